// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import Synchronization

/// Wakes a thread that waits in `poll(2)`; an `eventfd(2)`.
///
/// Signals that come before the wait are not lost, and many of them count as one.
package final class Wakeup: Sendable {
    private let event: OwnedDescriptor
    private let isSignalled = Atomic(false)
    /// What the woken thread is to look at, if it serves many.
    package let marks = Marks()

    package init() throws(SystemError) {
        let number = utter_eventfd()
        guard number >= 0 else { throw SystemError.last("eventfd") }
        event = OwnedDescriptor(taking: number)
    }

    /// To be polled for `POLLIN`.
    package var descriptor: Int32 { event.number }

    /// From any thread; never blocks.
    package func signal() {
        // Both: partner of the exchange in `drain`. What was done before a signal that finds one is
        // seen by the thread that takes that one back.
        guard !isSignalled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var one: UInt64 = 1
        // EAGAIN means that the counter is full: the thread is woken anyway.
        _ = unsafe write(event.number, &one, 8)
    }

    /// Takes all signals back; never blocks.
    ///
    /// Called by the woken thread before it looks for work.
    package func drain() {
        var count: UInt64 = 0
        // EAGAIN means that there was nothing to take. First: what is signalled from here on is
        // written anew.
        _ = unsafe read(event.number, &count, 8)
        takeBack()
    }

    /// As `drain`, for a thread that waits for the edge of a write (`EPOLLET`), which reads nothing.
    package func takeBack() { _ = isSignalled.exchange(false, ordering: .acquiringAndReleasing) }
}
