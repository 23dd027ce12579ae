// SPDX-License-Identifier: Apache-2.0

internal import CALSA
internal import Capture
internal import Glibc
internal import LinuxPlatform

struct ALSAError: Error {
    /// The C function that failed, such as "snd_pcm_readi".
    let operation: StaticString

    /// `errno`, positive.
    let code: Int32

    /// Throws for a negative return value.
    @discardableResult
    static func check<Value: SignedInteger>(
        _ operation: StaticString, _ value: Value
    ) throws(ALSAError) -> Value {
        guard value < 0 else { return value }
        throw ALSAError(operation: operation, code: Int32(clamping: -value))
    }

    var reason: String {
        guard let text = unsafe snd_strerror(-code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }

    /// Whether the card or the sound server is gone.
    ///
    /// `EBADFD`: a driver that is being removed closes the PCM first.
    var isLoss: Bool { [ENODEV, ENOENT, EBADFD, ENXIO].contains(code) }

    /// With alsa-lib's own messages on this thread.
    var fullReason: String {
        let complaint = unsafe String(cString: utter_alsa_complaint())
        return complaint.isEmpty
            ? "\(operation): \(reason)" : "\(reason); ALSA says: \(complaint)"
    }

    func opening(_ device: String) -> CaptureError {
        let error = SystemError(call: "\(operation)", code: code)
        if error.isOfLimit { return .limitReached(name: device, error) }
        // Before anything else is asked of alsa-lib.
        let reason = fullReason
        return switch code {
        case ENOENT, ENODEV: .deviceNotFound(device: device, reason: reason)
        case EBUSY, EAGAIN:
            .deviceBusy(
                device: device,
                holders: DeviceHolders().holders(ofCard: ALSADevices.cardIndex(in: device)))
        case EACCES, EPERM: .permissionDenied(name: device)
        default: .deviceUnusable(device: device, reason: reason)
        }
    }
}
