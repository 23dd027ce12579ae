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
