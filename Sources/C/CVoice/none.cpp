// SPDX-License-Identifier: Apache-2.0
//
// For systems without libwebrtc-audio-processing: there is no detector, so that all sound counts as
// voice.
#include "utter_voice.h"

const char *utter_voice_detector(void) { return nullptr; }

utter_voice *utter_voice_make(void) { return nullptr; }

bool utter_voice_hears(utter_voice *, const int16_t *) { return true; }

void utter_voice_end(utter_voice *) {}
