// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Capture

@Suite struct CaptureStageMessageTests {
    @Test(
        arguments: [
            (
                CaptureError.deviceNotFound(device: "hw:9,0"), "no capture device named 'hw:9,0'",
                false
            ),
            (
                .deviceBusy(device: "hw:0,0"),
                "cannot record from 'hw:0,0': another program holds it (EBUSY)", false
            ),
            (.permissionDenied(name: "hw:0,0"), "cannot open 'hw:0,0': permission denied", false),
            (
                .formatRefused(device: "hw:0,0", detail: "it offers nothing"),
                "cannot record from 'hw:0,0': it offers nothing", false
            ),
            (
                .formatRefused(device: "usb", detail: "it offers nothing"),
                "cannot record from 'usb': it offers nothing", false
            ),
            (
                .deviceLost(device: "hw:1,0", frames: 659_200, sampleRate: 16_000),
                "'hw:1,0' disappeared after 41.2 s; everything before that is kept", true
            ),
            (
                .deviceSilent(device: "hw:1,0", seconds: 3), "'hw:1,0' delivered no audio for 3 s",
                true
            ),
            (
                .deviceFailed(device: "hw:1,0", operation: "snd_pcm_readi", reason: "Input error"),
                "recording from 'hw:1,0' failed: snd_pcm_readi: Input error", true
            ),
            (
                .cannotOpen(name: "a.wav", reason: "No such file or directory"),
                "cannot open 'a.wav': No such file or directory", false
            ),
            (
                .readFailed(name: "a.wav", reason: "Input/output error"),
                "reading 'a.wav' failed: Input/output error", true
            ),
            (
                .unusableAudio(name: "a.wav", detail: "no data chunk"),
                "'a.wav' is not usable audio: no data chunk", false
            ),
            (
                .foreignAudio(name: "a.mp3", kind: "MP3"),
                "'a.mp3' is MP3, which utter does not read", false
            ),
            (
                .foreignAudio(name: "standard input", kind: "MP3"),
                "'standard input' is MP3, which utter does not read", false
            ),
            (
                .deviceUnusable(device: "hw:1,0", reason: "it is odd"),
                "cannot record from 'hw:1,0': it is odd", false
            ),
        ] as [(CaptureError, String, Bool)])
    func anErrorSaysWhatHappened(
        error: CaptureError, description: String, isLossInMidTake: Bool
    ) {
        #expect(error.description == description)
        #expect(error.isLossInMidTake == isLossInMidTake)
    }

    @Test func gapCausesHaveTheseNames() {
        #expect(Gap.Cause.overrun.rawValue == "overrun")
        #expect(Gap.Cause.ringFull.rawValue == "ring-full")
    }
}
