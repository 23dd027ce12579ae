// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform

package enum PlaybackError: Error, Sendable, Equatable {
    /// There is no device of that name.
    case deviceNotFound(device: String)
    /// Another program holds the device (`EBUSY`).
    case deviceBusy(device: String)
    /// The device may not be opened (`EACCES`, `EPERM`).
    case permissionDenied(device: String)
    /// The process may open nothing more, or has no memory left; the device may be there.
    case limitReached(device: String, SystemError)
    /// The device does not play 16 kHz mono, and converts nothing itself.
    case formatRefused(device: String)
    /// The device went away.
    case deviceLost(device: String)
    /// The device took nothing for this many seconds.
    case deviceStuck(device: String, seconds: Int)
    /// The device is there and cannot be used; `reason` is ALSA's word for it.
    case deviceUnusable(device: String, reason: String)
    /// Another failure of the sound card while it played; `reason` is ALSA's word for it.
    case deviceFailed(device: String, operation: String, reason: String)
}

extension PlaybackError {
    package var description: String {
        switch self {
        case .deviceNotFound(let device): "no playback device named '\(device)'"
        case .deviceBusy(let device):
            "cannot play on '\(device)': another program holds it (EBUSY)"
        case .permissionDenied(let device): "cannot open '\(device)': permission denied"
        case .limitReached(let device, let error): "cannot open '\(device)': \(error.reason)"
        case .formatRefused(let device):
            "cannot play on '\(device)': it does not take 16000 Hz mono 16-bit"
        case .deviceLost(let device): "'\(device)' disappeared"
        case .deviceStuck(let device, let seconds):
            "'\(device)' took no audio for \(seconds) s"
        case .deviceUnusable(let device, let reason): "cannot play on '\(device)': \(reason)"
        case .deviceFailed(let device, let operation, let reason):
            "playing on '\(device)' failed: \(operation): \(reason)"
        }
    }
}

extension ALSAError {
    func openingToPlay(on device: String) -> PlaybackError {
        guard case .deviceFailed = playing(on: device) else { return playing(on: device) }
        return .deviceUnusable(device: device, reason: fullReason)
    }

    func playing(on device: String) -> PlaybackError {
        if let limit { return .limitReached(device: device, limit) }
        return switch code {
        case ENOENT, ENODEV: .deviceNotFound(device: device)
        case EBUSY, EAGAIN: .deviceBusy(device: device)
        case EACCES, EPERM: .permissionDenied(device: device)
        default: .deviceFailed(device: device, operation: "\(operation)", reason: reason)
        }
    }
}
