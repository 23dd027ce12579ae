// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import Glibc
public import LinuxPlatform
internal import Synchronization

/// Names one transfer of a loop.
public struct TransferID: Sendable, Hashable {
    fileprivate let number: Int
}

/// The thread that sends every body and reads every response, for any number of takes.
///
/// libcurl's multi interface on one thread; it waits in `curl_multi_poll` and is woken by the
/// journal loop when a journal grew.
public final class TransferLoop: Sendable {
    /// The longest wait without looking at everything again.
    private static let longestWait = Duration.milliseconds(500)

    private enum Command: Sendable {
        case start(TransferID, TransferRequest, any TransferObserver)
        case cancel(TransferID)
    }

    private struct Inbox {
        var commands: [Command] = []
        /// Whether nobody will read it any more.
        var isClosed = false
    }

    private let wakeup: Wakeup
    private let inbox = Mutex(Inbox())
    private let isShutDown = Atomic(false)
    private let nextNumber = Atomic(1)
    private let thread = Mutex<NamedThread?>(nil)

    /// Starts the thread, which loads libcurl at once.
    ///
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    public init() throws(SystemError) {
        wakeup = try Wakeup()
        let started = try NamedThread(name: "transfer") { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Starts a transfer: the connection is opened at once, whether there is a body or not.
    ///
    /// From any thread. The observer is kept until `transferDidEnd`; once the loop has been shut
    /// down it is told `.cancelled` at once, on the calling thread.
    public func start(_ request: TransferRequest, observer: any TransferObserver) -> TransferID {
        let id = TransferID(number: nextNumber.add(1, ordering: .relaxed).oldValue)
        let isTaken = inbox.withLock { inbox in
            if !inbox.isClosed { inbox.commands.append(.start(id, request, observer)) }
            return !inbox.isClosed
        }
        if isTaken { wakeup.signal() } else { observer.transferDidEnd(.unstarted(.cancelled)) }
        return id
    }

    /// Breaks a transfer off: the connection is closed without an end of the body.
    ///
    /// From any thread. The observer is told `.cancelled`, unless it has ended already.
    public func cancel(_ id: TransferID) {
        inbox.withLock { $0.commands.append(.cancel(id)) }
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
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        defer { curl_global_cleanup() }
        guard let multi = unsafe curl_multi_init() else { return close(.unstarted(.noMemory)) }
        defer { unsafe curl_multi_cleanup(multi) }
        var transfers: [TransferID: Transfer] = [:]
        while !isShutDown.load(ordering: .relaxed) {
            wakeup.drain()
            unsafe obey(multi, &transfers)
            for transfer in transfers.values { transfer.unpauseWhenDue() }
            var running: Int32 = 0
            unsafe curl_multi_perform(multi, &running)
            unsafe collectFinished(multi, &transfers)
            // After libcurl's turn, which may have brought a refusal or begun a deadline.
            let now = ContinuousClock.now
            var next = now + Self.longestWait
            for transfer in transfers.values { next = min(next, transfer.look(now: now)) }
            for transfer in transfers.values where transfer.mustEnd {
                unsafe remove(transfer, CURLE_ABORTED_BY_CALLBACK, multi, &transfers)
            }
            unsafe wait(multi, until: next)
        }
        for transfer in transfers.values {
            transfer.cancel()
            unsafe remove(transfer, CURLE_ABORTED_BY_CALLBACK, multi, &transfers)
        }
        close(.unstarted(.cancelled))
    }

    private func obey(
        _ multi: UnsafeMutableRawPointer, _ transfers: inout [TransferID: Transfer]
    ) {
        let commands = inbox.withLock { inbox in
            defer { inbox.commands = [] }
            return inbox.commands
        }
        for command in commands {
            switch command {
            case .start(let id, let request, let observer):
                guard let transfer = Transfer(id: id, request: request, observer: observer),
                    unsafe curl_multi_add_handle(multi, transfer.raw) == CURLM_OK
                else {
                    observer.transferDidEnd(.unstarted(.noMemory))
                    continue
                }
                transfers[id] = transfer
            case .cancel(let id):
                guard let transfer = transfers[id] else { continue }
                transfer.cancel()
                unsafe remove(transfer, CURLE_ABORTED_BY_CALLBACK, multi, &transfers)
            }
        }
    }

    private func collectFinished(
        _ multi: UnsafeMutableRawPointer, _ transfers: inout [TransferID: Transfer]
    ) {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            let handle = unsafe message.pointee.easy_handle
            let code = unsafe utter_message_result(message)
            if let transfer = transfers.values.first(where: { unsafe $0.raw == handle }) {
                unsafe remove(transfer, code, multi, &transfers)
            }
        }
    }

    private func remove(
        _ transfer: Transfer, _ code: CURLcode, _ multi: UnsafeMutableRawPointer,
        _ transfers: inout [TransferID: Transfer]
    ) {
        unsafe curl_multi_remove_handle(multi, transfer.raw)
        transfers[transfer.id] = nil
        transfer.end(code: code)
    }

    private func wait(_ multi: UnsafeMutableRawPointer, until instant: ContinuousClock.Instant) {
        let milliseconds = (instant - .now).wholeMilliseconds(upTo: Int(Int32.max))
        var event = curl_waitfd(
            fd: wakeup.descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        unsafe curl_multi_poll(multi, &event, 1, Int32(milliseconds), nil)
    }

    /// Tells everybody who still waits, and whoever comes later, that nothing begins any more.
    private func close(_ result: TransferResult) {
        let commands = inbox.withLock { inbox in
            inbox.isClosed = true
            defer { inbox.commands = [] }
            return inbox.commands
        }
        for case .start(_, _, let observer) in commands { observer.transferDidEnd(result) }
    }
}

extension TransferResult {
    /// The result of a transfer that did not begin.
    fileprivate static func unstarted(_ ending: Ending) -> TransferResult {
        TransferResult(
            ending: ending, status: nil, headers: [], sentByteCount: 0, isBodyComplete: false,
            timings: TransferTimings())
    }
}

extension TransferResult.Ending {
    /// libcurl had no memory for the transfer.
    fileprivate static let noMemory = Self.cannotConnect("out of memory")
}
