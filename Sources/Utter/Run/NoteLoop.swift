// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// The thread that writes down which requests are about to begin.
///
/// It writes small files and waits for no `fsync`: neither the sync thread, which a slow disk keeps
/// for seconds, nor a thread on the way of the samples is in its place.
final class NoteLoop: Sendable {
    private let wakeup: Wakeup
    private let inbox = Mutex<[@Sendable () -> Void]>([])
    private let isShutDown = Atomic(false)
    private let thread = Mutex<NamedThread?>(nil)

    /// Starts the thread.
    ///
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    init() throws(SystemError) {
        wakeup = try Wakeup()
        let started = try NamedThread(name: "notes") { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Carries out a job after those that were given before.
    ///
    /// From any thread.
    func perform(_ job: @escaping @Sendable () -> Void) {
        inbox.withLock { $0.append(job) }
        wakeup.signal()
    }

    /// Carries out what was given before, ends the thread and waits for it.
    func shutDown() {
        // releasing: partner of the acquire in `run`.
        isShutDown.store(true, ordering: .releasing)
        wakeup.signal()
        thread.withLock { $0 }?.join()
    }

    private func run() {
        while true {
            wakeup.drain()
            // acquiring: partner of the release in `shutDown`; what was given before it is seen
            // below.
            let isLast = isShutDown.load(ordering: .acquiring)
            let jobs = inbox.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            for job in jobs { job() }
            if isLast { return }
            var descriptor = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
            // EINTR leads to one more turn, which is harmless.
            _ = unsafe poll(&descriptor, 1, -1)
        }
    }
}
