// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// Makes a wake-up, or ends the test run: without descriptors no test can go on.
func requireWakeup() -> Wakeup {
    do {
        return try Wakeup()
    } catch {
        preconditionFailure("the test process has no descriptor left: \(error.description)")
    }
}

/// Waits until one of the descriptors is readable or has an error; -1 stands for none.
///
/// - Returns: for each descriptor whether it is; all false when `deadline` has passed.
func pollReadable(_ descriptors: [Int32], until deadline: MonotonicTime) -> [Bool] {
    pollEvents(
        descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }, until: deadline
    )
    .map { $0 != 0 }
}

/// Waits as `poll(2)` does, through signals, until `deadline`.
///
/// - Returns: the events of each entry; all zero when `deadline` has passed.
func pollEvents(_ waits: [pollfd], until deadline: MonotonicTime) -> [Int16] {
    var waits = waits
    while true {
        let left = deadline - MonotonicTime.now
        let count = poll(&waits, nfds_t(waits.count), left.millisecondsRoundedUp)
        if count > 0 || (count == 0 && left <= .zero) { return waits.map(\.revents) }
        if count < 0 && errno != EINTR { return waits.map { _ in Int16(POLLERR) } }
    }
}

/// Sends all bytes.
///
/// - Returns: false when the receiver is gone or does not read, or `stop` can be read.
func sendAll(
    _ bytes: ArraySlice<UInt8>, to socket: Int32, stop: Int32, until deadline: MonotonicTime
) -> Bool {
    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    var rest = bytes
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, flags) }
        let code = errno
        if count > 0 {
            rest = rest.dropFirst(count)
            continue
        }
        guard code == EAGAIN || code == EINTR else { return false }
        let events = pollEvents(
            [
                pollfd(fd: socket, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
            ], until: deadline)
        guard events[0] != 0, events[1] == 0 else { return false }
    }
    return true
}
