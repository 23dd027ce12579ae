// SPDX-License-Identifier: Apache-2.0
//
// The voice detector of libwebrtc-audio-processing 1.x, alone: nothing else of its audio processing is
// switched on, so that no sample is changed. Its C++ does not get past this file.
#include "utter_voice.h"

#include <new>

#include <modules/audio_processing/include/audio_processing.h>

const char *utter_voice_detector(void) { return "WebRTC 1.x"; }

// This generation has no likelihood to set, and drops the weak end of a word that 0.3 still hears. So
// a voice lasts for 100 ms longer than it says; 50 would do for the recordings of the tests.
static const int longer = 10;

struct utter_voice {
    rtc::scoped_refptr<webrtc::AudioProcessing> processing;
    int left = 0;
};

utter_voice *utter_voice_make(void) {
    auto *voice = new (std::nothrow) utter_voice;
    if (!voice) return nullptr;
    voice->processing = webrtc::AudioProcessingBuilder().Create();
    if (!voice->processing) {
        delete voice;
        return nullptr;
    }
    webrtc::AudioProcessing::Config config;
    config.voice_detection.enabled = true;
    voice->processing->ApplyConfig(config);
    return voice;
}

bool utter_voice_hears(utter_voice *voice, const int16_t *frames) {
    const webrtc::StreamConfig mono(16000, 1);
    int16_t unused[utter_voice_frames];
    const int error = voice->processing->ProcessStream(frames, mono, mono, unused);
    if (error != webrtc::AudioProcessing::kNoError) return true;
    if (voice->processing->GetStatistics().voice_detected.value_or(true)) {
        voice->left = longer;
        return true;
    }
    return voice->left > 0 && voice->left-- > 0;
}

void utter_voice_end(utter_voice *voice) { delete voice; }
