// SPDX-License-Identifier: Apache-2.0

public import LinuxPlatform

/// Why no audio, or no more audio, comes from a source.
public enum CaptureError: Error, Sendable, Equatable {
    /// There is no device of that name; `reason` is ALSA's word for it, if it has one.
    case deviceNotFound(device: String, reason: String? = nil)
    /// Another program holds the device (`EBUSY`); which, if that is known.
    case deviceBusy(device: String, holders: [DeviceHolder] = [])
    /// A name that stands for several devices, or is not a name; `candidates` are the devices.
    case deviceUnclear(device: String, candidates: [String])
    /// The device records what the computer plays.
    case deviceIsMonitor(device: String)
    /// The device may not be opened (`EACCES`, `EPERM`).
    case permissionDenied(name: String)
    /// The file may not be read (`EACCES`, `EPERM`).
    case fileForbidden(path: String)
    /// The device offers no layout that can be converted; `detail` says what it refused.
    case formatRefused(device: String, detail: String)
    /// The device went away after this many frames at `sampleRate`.
    case deviceLost(device: String, frames: Int, sampleRate: Int)
    /// The device delivered nothing for this many seconds.
    case deviceSilent(device: String, seconds: Int)
    /// The device's driver has not returned from a call for this many seconds.
    case deviceHangs(device: String, seconds: Int)
    /// The device is there and cannot be used; `reason` is ALSA's word for it.
    case deviceUnusable(device: String, reason: String)
    /// Another failure of the sound card while it recorded; `reason` is ALSA's word for it.
    case deviceFailed(device: String, operation: String, reason: String)
    /// There is no such file, or it cannot be opened; `reason` is the system's word for it.
    case cannotOpen(name: String, reason: String)
    /// The process may open nothing more, or has no memory left; what it wanted to open may be there.
    case limitReached(name: String, SystemError)
    /// Reading failed in the middle; `reason` is the system's word for it.
    case readFailed(name: String, reason: String)
    /// The file is not audio that can be used; `detail` says which byte or chunk is wrong.
    case unusableAudio(name: String, detail: String)
    /// There is not one sample in it.
    case noSound(name: String)
    /// The file is audio of a kind that is not read here, such as "MP3".
    case foreignAudio(name: String, kind: String)
    /// The input is never sound; `kind` says what it is, such as "a web page (HTML)".
    case notSound(name: String, kind: String)
}

extension CaptureError: CustomStringConvertible {
    /// The message: what happened and why, in one line without capital and full stop.
    public var description: String {
        switch self {
        case .deviceNotFound(let device, let reason):
            "no capture device named '\(device)'" + (reason.map { ": \($0)" } ?? "")
        case .deviceBusy(let device, let holders):
            "cannot record from '\(device)': "
                + (holders.isEmpty
                    ? "another program holds it (EBUSY)"
                    : holders.map(\.description).joined(separator: ", ") + " "
                        + (holders.count == 1 ? "holds" : "hold") + " it (EBUSY)")
        case .deviceUnclear(let device, let candidates):
            "'\(device)' does not name one microphone"
                + (candidates.isEmpty ? "" : ": it may be \(candidates.joined(separator: ", "))")
        case .deviceIsMonitor(let device):
            "'\(device)' records what the computer plays, not a voice"
        case .permissionDenied(let name), .fileForbidden(let name):
            "cannot open '\(name)': permission denied"
        case .formatRefused(let device, let detail):
            "cannot record from '\(device)': \(detail)"
        case .deviceLost(let device, let frames, let sampleRate):
            "'\(device)' disappeared after \(Self.seconds(frames, sampleRate)) s; "
                + "everything before that is kept"
        case .deviceSilent(let device, let seconds):
            "'\(device)' delivered no audio for \(seconds) s"
        case .deviceHangs(let device, let seconds):
            "the driver of '\(device)' has not answered for \(seconds) s"
        case .deviceUnusable(let device, let reason):
            "cannot record from '\(device)': \(reason)"
        case .deviceFailed(let device, let operation, let reason):
            "recording from '\(device)' failed: \(operation): \(reason)"
        case .cannotOpen(let name, let reason):
            "cannot open '\(name)': \(reason)"
        case .limitReached(let name, let error):
            "cannot open '\(name)': \(error.reason)"
        case .readFailed(let name, let reason):
            "reading '\(name)' failed: \(reason)"
        case .unusableAudio(let name, let detail):
            "'\(name)' is not usable audio: \(detail)"
        case .noSound(let name):
            "there is no sound in '\(name)': nothing is sent"
        case .foreignAudio(let name, let kind):
            "'\(name)' is \(kind), which utter does not read"
        case .notSound(let name, let kind):
            "'\(name)' is \(kind), and not sound: nothing is sent"
        }
    }

    package var isLossInMidTake: Bool {
        switch self {
        case .deviceLost, .deviceSilent, .deviceHangs, .deviceFailed, .readFailed: true
        default: false
        }
    }

    private static func seconds(_ frames: Int, _ sampleRate: Int) -> String {
        let tenths = sampleRate > 0 ? frames * 10 / sampleRate : 0
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// A program that records from a sound card.
public struct DeviceHolder: Sendable, Hashable {
    package let process: Int32
    package let program: String

    package init(process: Int32, program: String) {
        self.process = process
        self.program = program
    }

    package var description: String { "'\(program)' (process \(process))" }
}
