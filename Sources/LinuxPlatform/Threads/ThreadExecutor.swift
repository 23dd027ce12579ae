// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// Runs what tasks have to do on one thread: that which calls `run`.
///
/// The standard executor is libdispatch, which starts three threads for the first task.
package final class ThreadExecutor: TaskExecutor {
    private let wakeup: Wakeup
    private let jobs = Mutex<[UnownedJob]>([])

    /// Creates an executor that does nothing before `run` is called.
    package init() throws(SystemError) { wakeup = try Wakeup() }

    /// From any thread; never blocks.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        wakeup.signal()
    }

    /// Does what is handed over, in that order, for as long as the process lives.
    package func run() -> Never {
        while true {
            var event = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
            // An interrupted wait is one that ended early.
            _ = unsafe poll(&event, 1, -1)
            wakeup.drain()
            let due = jobs.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            for job in due { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}
