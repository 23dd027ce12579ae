// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import Synchronization

/// Wakes a thread that waits.
///
/// A thread that waits for descriptors as well polls `descriptor`, an `eventfd(2)`. Any other sleeps
/// in `wait`, on a semaphore (`sem_overview(7)`): that is one system call less for each signal, and
/// none for a signal that finds the thread awake. Signals that come before the wait are not lost, and
/// many of them count as one.
///
/// `@unchecked Sendable` because the semaphore's functions are safe from any thread.
@safe package final class Wakeup: @unchecked Sendable {
    /// The descriptor that the thread polls; nil for a thread that sleeps.
    private let event: OwnedDescriptor?
    /// -1 for a thread that sleeps; to be polled for `POLLIN`.
    package let descriptor: Int32
    private let semaphore: UnsafeMutablePointer<sem_t>
    private let isSignalled = Atomic(false)
    /// Marks of the things that the woken thread is to look at, if it serves many.
    package let marks = Marks()

    /// - Throws: `SystemError` without a descriptor left, unless the thread sleeps.
    package init(isPolled: Bool = true) throws(SystemError) {
        descriptor = isPolled ? utter_eventfd() : -1
        guard descriptor >= 0 || !isPolled else { throw SystemError.last("eventfd") }
        event = isPolled ? OwnedDescriptor(taking: descriptor) : nil
        unsafe semaphore = .allocate(capacity: 1)
        _ = unsafe sem_init(semaphore, 0, 0)
    }

    deinit {
        _ = unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    /// From any thread; never blocks.
    package func signal() {
        // Both: partner of the exchange in `takeBack`. The thread that takes a signal back sees all
        // writes before a later signal that found it.
        guard !isSignalled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        guard descriptor >= 0 else {
            _ = unsafe sem_post(semaphore)
            return
        }
        var one: UInt64 = 1
        // EAGAIN means that the counter is full: the thread is woken anyway.
        _ = unsafe write(descriptor, &one, 8)
    }

    /// Waits for a signal or the time, and takes the signals back; may return early.
    ///
    /// Called by the woken thread before it looks for work.
    package func wait(_ pause: WorkerPause) {
        guard descriptor < 0 else {
            if pause.wait(for: descriptor) { drain() }
            return
        }
        guard pause != .goesOn else { return }
        if unsafe utter_sleep(semaphore, pause.nanoseconds) == 0 { takeBack() }
    }

    /// Takes all signals back; never blocks.
    ///
    /// Called by a thread that polls, before it looks for work.
    package func drain() {
        var count: UInt64 = 0
        // EAGAIN means that there was nothing to take. First: what is signalled from here on is
        // written anew.
        _ = unsafe read(descriptor, &count, 8)
        takeBack()
    }

    /// As `drain`, for a thread that waits for the edge of a write (`EPOLLET`), which reads nothing.
    package func takeBack() { _ = isSignalled.exchange(false, ordering: .acquiringAndReleasing) }
}
