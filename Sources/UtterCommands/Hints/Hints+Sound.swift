// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import Utter

extension CaptureError: Blamed {
    var status: ExitStatus {
        switch self {
        case .deviceNotFound, .deviceBusy, .deviceUnusable, .deviceUnclear, .deviceIsMonitor,
            .cannotOpen:
            .noInput
        case .formatRefused, .unusableAudio, .noSound, .foreignAudio, .notSound:
            .unusableAudio
        case .permissionDenied, .fileForbidden: .configuration
        case .readFailed, .limitReached: .localIO
        case .deviceLost, .deviceSilent, .deviceHangs, .deviceFailed: .microphoneLost
        }
    }

    var hint: String? {
        switch self {
        case .deviceNotFound, .deviceUnclear:
            "run 'utter devices' and pass one of those names with --device"
        case .deviceBusy("default", _): "close that program"
        case .deviceBusy: "close that program, or use --device default to share the card"
        case .deviceIsMonitor: "if that is what you want, say so with --allow-monitor"
        case .permissionDenied: "check the permissions; sound cards often need the group 'audio'"
        case .formatRefused(let device, _):
            DeviceHost.converting(device).map {
                "use --device \($0) to let \(DeviceHost.name) convert"
            } ?? "pass another of those that 'utter devices' lists"
        case .fileForbidden: "check whose it is, and who may read it, with: ls -l"
        case .deviceUnusable:
            "check \(DeviceHost.name)'s configuration, or pass another of those that "
                + "'utter devices' lists"
        case .deviceLost: "connect it again and record once more"
        case .deviceSilent: "check that the microphone is not muted or suspended"
        case .deviceHangs:
            "connect it again, or pass another of those that 'utter devices' lists"
        case .deviceFailed, .readFailed: nil
        case .cannotOpen: "check the name"
        case .limitReached(_, let error): error.hint
        case .unusableAudio:
            "utter reads WAV of PCM and floating point, FLAC and Ogg Opus; "
                + "convert others with: ffmpeg -i IN -ar 16000 -ac 1 OUT.wav"
        case .noSound: "look at what the program says that has made it"
        case .notSound(StandardInput.name, _):
            "look at what the program before the pipe writes; raw samples are said by --rate"
        case .notSound: "name a recording; unpack what is packed, and decrypt what is encrypted"
        case .foreignAudio:
            "install the program ffmpeg, by which utter reads it: sudo apt install ffmpeg"
        }
    }
}

extension TakeSamples.Failure: Blamed {
    var status: ExitStatus { if case .damaged = self { .unusableAudio } else { .localIO } }
    var hint: String? { nil }
}

extension Hints {
    static let notPlayed =
        "run 'utter devices --playback', and pass one of those names with --device; "
        + "utter export copies the audio to a file"
}
