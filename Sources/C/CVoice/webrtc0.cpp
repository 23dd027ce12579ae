// SPDX-License-Identifier: Apache-2.0
//
// The voice detector of libwebrtc-audio-processing 0.3, alone: nothing else of its audio processing is
// switched on, so that no sample is changed. Its C++ does not get past this file.
#include "utter_voice.h"

#include <cstring>
#include <new>

#include <webrtc/modules/audio_processing/include/audio_processing.h>
#include <webrtc/modules/interface/module_common_types.h>

const char *utter_voice_detector(void) { return "WebRTC 0.3"; }

struct utter_voice {
    webrtc::AudioProcessing *processing;
    webrtc::AudioFrame frame;
};

utter_voice *utter_voice_make(void) {
    auto *voice = new (std::nothrow) utter_voice;
    if (!voice) return nullptr;
    voice->processing = webrtc::AudioProcessing::Create();
    if (!voice->processing) {
        delete voice;
        return nullptr;
    }
    auto *detection = voice->processing->voice_detection();
    // The least eager but one to find voice everywhere; see docs/decisions.
    detection->set_likelihood(webrtc::VoiceDetection::kModerateLikelihood);
    detection->Enable(true);
    return voice;
}

bool utter_voice_hears(utter_voice *voice, const int16_t *frames) {
    webrtc::AudioFrame &frame = voice->frame;
    frame.sample_rate_hz_ = 16000;
    frame.num_channels_ = 1;
    frame.samples_per_channel_ = utter_voice_frames;
    std::memcpy(frame.data_, frames, utter_voice_frames * sizeof *frames);
    if (voice->processing->ProcessStream(&frame) != webrtc::AudioProcessing::kNoError) return true;
    return voice->processing->voice_detection()->stream_has_voice();
}

void utter_voice_end(utter_voice *voice) {
    delete voice->processing;
    delete voice;
}
