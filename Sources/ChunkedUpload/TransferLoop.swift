// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import LinuxPlatform
internal import Synchronization

/// Names one transfer of a loop.
public struct TransferID: Sendable, Hashable {
    let number: Int
}

/// The thread that sends every body and reads every response, for any number of takes.
///
/// libcurl's multi interface on one thread; it waits in `curl_multi_poll` and is woken by the
/// journal loop when a journal grew.
public final class TransferLoop: Sendable {
    /// The longest wait without looking at everything again.
    private static let longestWait = Duration.milliseconds(500)

    private let wakeup: Wakeup
    private let inbox = Mutex<[TransferCommand]>([])
    private let isShutDown = Atomic(false)
    private let nextNumber = Atomic(1)
    private let thread = Mutex<NamedThread?>(nil)

    /// Starts the thread, which loads libcurl at once.
    ///
    /// No thread of the process can be started while a library is being loaded: whoever starts
    /// several starts this one last.
    ///
    /// - Parameter wakeup: what the journal loop signals, as `wake` does; nil for one of its own.
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    public init(wokenBy wakeup: Wakeup? = nil) throws(SystemError) {
        if let wakeup { self.wakeup = wakeup } else { self.wakeup = try Wakeup() }
        let started = try NamedThread(name: "transfer") { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Starts a transfer: the connection is opened at once, whether there is a body or not.
    ///
    /// From any thread. The observer is kept until `transferDidEnd`.
    ///
    /// - Parameters:
    ///   - request: what to send, and where to.
    ///   - pause: how long to wait before it begins, unless it is hurried.
    ///   - atLeast: how long to wait even then.
    ///   - observer: told what happens, on the transfer thread.
    /// - Returns: its name, for `hurry` and `cancel`.
    public func start(
        _ request: TransferRequest, after pause: Duration = .zero, atLeast: Duration = .zero,
        observer: any TransferObserver
    ) -> TransferID {
        let id = TransferID(number: nextNumber.add(1, ordering: .relaxed).oldValue)
        let now = ContinuousClock.now
        let start = TransferCommand.Start(
            id: id, request: request, observer: observer, notBefore: now + atLeast,
            due: now + max(pause, atLeast))
        inbox.withLock { $0.append(.start(start)) }
        wakeup.signal()
        return id
    }

    /// Ends the pause of a transfer that has not begun.
    ///
    /// From any thread.
    public func hurry(_ id: TransferID) {
        inbox.withLock { $0.append(.hurry(id)) }
        wakeup.signal()
    }

    /// Breaks a transfer off: the connection is closed without an end of the body.
    ///
    /// From any thread. The observer is told `.cancelled`, unless it has ended already.
    public func cancel(_ id: TransferID) {
        inbox.withLock { $0.append(.cancel(id)) }
        wakeup.signal()
    }

    /// Says that a journal grew or was sealed.
    ///
    /// From any thread; never blocks.
    public func wake() { wakeup.signal() }

    /// Cancels what still runs, ends the thread and waits for it.
    public func shutDown() {
        isShutDown.store(true, ordering: .relaxed)
        wakeup.signal()
        thread.withLock { $0 }?.join()
    }

    // MARK: - The transfer thread

    private func run() {
        guard let table = TransferTable() else { return refuseEverything() }
        while !isShutDown.load(ordering: .relaxed) {
            wakeup.drain()
            for command in takeCommands() { table.obey(command) }
            let now = ContinuousClock.now
            let next = min(now + Self.longestWait, table.turn(now: now))
            table.wait(for: wakeup.descriptor, until: next)
        }
        table.cancelEverything()
    }

    private func takeCommands() -> [TransferCommand] {
        inbox.withLock { mail in
            defer { mail = [] }
            return mail
        }
    }

    private func refuseEverything() {
        while !isShutDown.load(ordering: .relaxed) {
            wakeup.drain()
            for case .start(let start) in takeCommands() {
                start.observer.transferDidEnd(.libraryMissing)
            }
            var descriptor = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
            // EINTR leads to one more turn, which is harmless.
            _ = unsafe poll(&descriptor, 1, -1)
        }
    }
}

extension TransferResult {
    /// The result of a transfer without a libcurl that could carry it.
    static let libraryMissing = TransferResult(
        ending: .cannotConnect("libcurl.so.4 cannot be loaded"), status: nil, headers: [],
        sentByteCount: 0, isBodyComplete: false, timings: TransferTimings())

    /// The result of a transfer that libcurl had no memory for.
    static let outOfMemory = TransferResult(
        ending: .cannotConnect("out of memory"), status: nil, headers: [], sentByteCount: 0,
        isBodyComplete: false, timings: TransferTimings())

    /// The result of a transfer that was cancelled in its pause.
    static let cancelledBeforeStart = TransferResult(
        ending: .cancelled, status: nil, headers: [], sentByteCount: 0, isBodyComplete: false,
        timings: TransferTimings())
}
