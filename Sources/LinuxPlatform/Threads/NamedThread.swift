// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import Synchronization

/// A POSIX thread with a name that `top -H` shows.
///
/// Blocking calls run on threads like this, never on the cooperative pool.
package final class NamedThread: Sendable {
    private let handle: pthread_t
    private let isJoined = Atomic(false)

    /// Starts the thread, which ends when `body` returns; `name` has at most 15 bytes.
    ///
    /// - Throws: `SystemError` `EAGAIN` when the system has no thread left.
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let context = unsafe Unmanaged.passRetained(ThreadBody(name: name, body: body))
        var handle = pthread_t()
        let code = unsafe pthread_create(&handle, nil, runThread, context.toOpaque())
        guard code == 0 else {
            unsafe context.release()
            throw SystemError(call: SystemError.threadCall, code: code)
        }
        self.handle = handle
    }

    /// Runs what blocks on a thread of its own, and waits for it without blocking.
    ///
    /// - Throws: `SystemError` when the system has no thread left; `body` did not run.
    package static func result<Value: Sendable, Failure: Error>(
        name: String, of body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(SystemError) -> Result<Value, Failure> {
        let end = Settlement<Result<Value, Failure>>()
        _ = try NamedThread(name: name) { end.settle(Result(catching: body)) }
        return await end.value
    }

    // The system would keep the stack of a thread that is not joined until the process ends.
    deinit { if !isJoined.load(ordering: .relaxed) { pthread_detach(handle) } }

    /// Waits for the end of the thread; later calls return at once.
    package func join() {
        guard !isJoined.exchange(true, ordering: .relaxed) else { return }
        _ = pthread_join(handle, nil)
    }
}

private final class ThreadBody: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    let thread = unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue()
    // Signals are the main thread's; a broken pipe is an error of the call that met it.
    var all = sigset_t()
    unsafe sigfillset(&all)
    // A fault is its own thread's: who handles it, such as a backtracer, must get it.
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] {
        _ = unsafe sigdelset(&all, fault)
    }
    _ = unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
    _ = unsafe thread.name.withCString { unsafe utter_thread_set_name($0) }
    thread.body()
    return nil
}

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
            wakeup.wait(.untilWoken)
            let due = jobs.withLock { exchange(&$0, with: []) }
            for job in due { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}
