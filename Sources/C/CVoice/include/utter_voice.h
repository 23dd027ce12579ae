// SPDX-License-Identifier: Apache-2.0

#ifndef UTTER_CVOICE_H
#define UTTER_CVOICE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Tells voice from noise, and remembers the noise of the room.
typedef struct utter_voice utter_voice;

/// The frames of 16 kHz mono that are judged at once: 10 ms.
enum { utter_voice_frames = 160 };

/// The name of the detector that the program was built with; NULL when it was built without one.
const char *_Nullable utter_voice_detector(void);

/// Makes a detector that has heard nothing; NULL when there is none, or memory has run out.
utter_voice *_Nullable utter_voice_make(void);

/// Whether there is a voice in the next `utter_voice_frames` frames. What cannot be judged is one.
bool utter_voice_hears(utter_voice *_Nonnull voice, const int16_t *_Nonnull frames);

/// Ends a detector.
void utter_voice_end(utter_voice *_Nonnull voice);

#ifdef __cplusplus
}
#endif

#endif
