// SPDX-License-Identifier: Apache-2.0

internal import CEvdev
internal import Glibc
internal import LinuxPlatform

/// A device below `/dev/input`, read by libevdev and never grabbed: other programs get its keys as
/// well.
///
/// Used by one thread. It reports movements, and remembers no key.
@safe final class InputDevice {
    enum Reading {
        case key(KeyNumber, KeyMovement, at: ContinuousClock.Instant)
        case nothing
        case lost
    }

    private let descriptor: OwnedDescriptor
    private let device: OpaquePointer
    private let hasTimes: Bool
    /// Events were dropped: the changes meanwhile are being read.
    private var isBehind = false

    /// Does not block.
    ///
    /// - Throws: `SystemError`: `EACCES` without the right, `ENODEV` and others for something else.
    init(_ path: String) throws(SystemError) {
        let number = try retryingInterrupts("open \(path)") {
            unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        }
        descriptor = OwnedDescriptor(taking: number)
        var device: OpaquePointer?
        let code = unsafe libevdev_new_from_fd(number, &device)
        guard code >= 0, let device = unsafe device else {
            throw SystemError(call: "read \(path)", code: -code)
        }
        unsafe self.device = device
        // This clock is never set, so that the time between two keys is true.
        hasTimes = unsafe libevdev_set_clock_id(device, CLOCK_MONOTONIC) == 0
    }

    deinit { unsafe libevdev_free(device) }

    /// To be polled for `POLLIN`.
    var number: Int32 { descriptor.number }

    var name: String {
        unsafe libevdev_get_name(device).map { unsafe String(cString: $0) } ?? "a keyboard"
    }

    func has(_ key: KeyNumber) -> Bool {
        unsafe libevdev_has_event_code(device, UInt32(EV_KEY), UInt32(key.number)) == 1
    }

    /// Never blocks.
    ///
    /// When the kernel has dropped events, the changes meanwhile come instead.
    func next() -> Reading {
        while true {
            var event = input_event()
            let flag = isBehind ? LIBEVDEV_READ_FLAG_SYNC : LIBEVDEV_READ_FLAG_NORMAL
            let status = unsafe libevdev_next_event(device, flag.rawValue, &event)
            if status == -EAGAIN {
                guard isBehind else { return .nothing }
                isBehind = false
            } else if status < 0 {
                if status != -EINTR { return .lost }
            } else if status == LIBEVDEV_READ_STATUS_SYNC.rawValue, !isBehind {
                isBehind = true
            } else if Int32(event.type) == EV_KEY,
                let movement = KeyMovement(rawValue: event.value)
            {
                let instant = isBehind ? .now : instant(of: event.time)
                return .key(KeyNumber(event.code), movement, at: instant)
            }
        }
    }

    /// The time of the event, not of reading it.
    private func instant(of time: timeval) -> ContinuousClock.Instant {
        let now = ContinuousClock.now
        var clock = timespec()
        guard hasTimes, unsafe clock_gettime(CLOCK_MONOTONIC, &clock) == 0 else { return now }
        let age =
            Duration.seconds(clock.tv_sec - time.tv_sec)
            + .nanoseconds(clock.tv_nsec) - .microseconds(time.tv_usec)
        // A clock of another kind tells nothing.
        return (.zero..<Self.longestAge).contains(age) ? now - age : now
    }

    /// An older event is not meant for what happens now.
    private static let longestAge = Duration.seconds(60)
}
