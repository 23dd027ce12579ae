// SPDX-License-Identifier: Apache-2.0

import Capture
import Testing

@Suite struct CaptureStageMessageTests {
    @Test(
        arguments: [
            (
                CaptureError.deviceNotFound(device: "hw:9,0"), "no capture device named 'hw:9,0'",
                "run 'utter devices' and pass one of those names with --device", false
            ),
            (
                .deviceBusy(device: "hw:0,0"),
                "cannot record from 'hw:0,0': another program holds it (EBUSY)",
                "close that program, or use --device default to share the card", false
            ),
            (
                .permissionDenied(name: "hw:0,0"), "cannot open 'hw:0,0': permission denied",
                "check the permissions; sound cards often need the group 'audio'", false
            ),
            (
                .formatRefused(device: "hw:0,0", detail: "it offers nothing"),
                "cannot record from 'hw:0,0': it offers nothing",
                "use --device plughw:0,0 to let ALSA convert", false
            ),
            (
                .formatRefused(device: "usb", detail: "it offers nothing"),
                "cannot record from 'usb': it offers nothing", "try --device default", false
            ),
            (
                .deviceLost(device: "hw:1,0", frames: 659_200, sampleRate: 16_000),
                "'hw:1,0' disappeared after 41.2 s; everything before that is kept",
                "connect it again and record once more", true
            ),
            (
                .deviceSilent(device: "hw:1,0", seconds: 3), "'hw:1,0' delivered no audio for 3 s",
                "check that the microphone is not muted or suspended", true
            ),
            (
                .deviceFailed(device: "hw:1,0", operation: "snd_pcm_readi", reason: "Input error"),
                "recording from 'hw:1,0' failed: snd_pcm_readi: Input error", nil, true
            ),
            (
                .cannotOpen(name: "a.wav", reason: "No such file or directory"),
                "cannot open 'a.wav': No such file or directory", "check the name", false
            ),
            (
                .readFailed(name: "a.wav", reason: "Input/output error"),
                "reading 'a.wav' failed: Input/output error", nil, true
            ),
            (
                .unusableAudio(name: "a.wav", detail: "no data chunk"),
                "'a.wav' is not usable audio: no data chunk",
                "utter reads WAV of PCM and floating point, and Ogg Opus; "
                    + "convert others with: ffmpeg -i IN -ar 16000 -ac 1 OUT.wav", false
            ),
            (
                .foreignAudio(name: "a.mp3", kind: "MP3"),
                "'a.mp3' is MP3, which utter does not read",
                "convert it with: ffmpeg -i IN -ar 16000 -ac 1 OUT.wav", false
            ),
            (
                .foreignAudio(name: "standard input", kind: "MP3"),
                "'standard input' is MP3, which utter does not read",
                "let ffmpeg convert it: ffmpeg -i IN -f wav -ar 16000 -ac 1 - | utter send -",
                false
            ),
            (
                .deviceUnusable(device: "hw:1,0", reason: "it is odd"),
                "cannot record from 'hw:1,0': it is odd",
                "check ALSA's configuration, or pass another device: utter devices lists them",
                false
            ),
        ] as [(CaptureError, String, String?, Bool)])
    func anErrorSaysWhatHappenedAndWhatToDo(
        error: CaptureError, description: String, hint: String?, isLossInMidTake: Bool
    ) {
        #expect(error.description == description)
        #expect(error.hint == hint)
        #expect(error.isLossInMidTake == isLossInMidTake)
    }

    @Test func gapCausesHaveTheseNames() {
        #expect(Gap.Cause.overrun.rawValue == "overrun")
        #expect(Gap.Cause.ringFull.rawValue == "ring-full")
    }
}
