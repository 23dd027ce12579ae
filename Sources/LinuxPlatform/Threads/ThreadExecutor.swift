// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// Runs tasks on the thread that calls `run`.
///
/// The standard executor is libdispatch, which starts three threads for the first task.
package final class ThreadExecutor: TaskExecutor {
    private let wakeup: Wakeup
    private let jobs = Mutex<[UnownedJob]>([])

    package init() throws(SystemError) { wakeup = try Wakeup() }

    /// From any thread; never blocks.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        wakeup.signal()
    }

    /// Runs jobs in order, until the process ends.
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
