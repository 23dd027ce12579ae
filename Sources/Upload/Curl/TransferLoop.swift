// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform
internal import Synchronization

package struct TransferID: Sendable, Hashable {
    let number: Int
}

/// The thread that sends every body and reads every response, for any number of takes.
///
/// libcurl's multi interface on one thread; it waits in `epoll_wait` and is woken by the journal
/// loop when journals grew, whose marks are set. Observers may block a thread of another name than
/// `transfer`, which carries no take.
package final class TransferLoop: Transport {
    private let loop: WorkerLoop<TransferWorker>
    private let nextNumber = Atomic(1)

    package init(name: String = "transfer", wokenBy wakeup: Wakeup? = nil) throws(SystemError) {
        let wakeup = if let wakeup { wakeup } else { try Wakeup() }
        loop = try WorkerLoop(name: name, wokenBy: wakeup) { TransferWorker(wokenBy: wakeup) }
    }

    package func start(
        _ request: TransferRequest, after pause: Duration, atLeast: Duration,
        observer: any TransferObserver
    ) -> TransferID {
        let id = TransferID(number: nextNumber.add(1, ordering: .relaxed).oldValue)
        let now = ContinuousClock.now
        let start = TransferCommand.Start(
            id: id, request: request, observer: observer, notBefore: now + atLeast,
            due: now + max(pause, atLeast))
        if !loop.send(.start(start)) { observer.transferDidEnd(.unstarted(.cancelled)) }
        return id
    }

    package func hurry(_ id: TransferID) { loop.send(.hurry(id)) }

    package func cancel(_ id: TransferID) { loop.send(.cancel(id)) }

    /// Any journal may have grown or be sealed; from any thread.
    func wake() { loop.send(.look) }

    package func shutDown() { loop.shutDown() }
}

extension TransferResult {
    package static func unstarted(_ ending: Ending) -> TransferResult {
        TransferResult(
            ending: ending, status: nil, headers: [], sentByteCount: 0, wireByteCount: 0,
            isBodyComplete: false, timings: TransferTimings())
    }
}

/// The transfer thread: obeys commands, and gives libcurl its turn.
struct TransferWorker: Worker {
    /// The table; nil when libcurl could not be set up.
    private let table: TransferTable?
    /// The end of every transfer without a table.
    private let refusal: TransferResult.Ending

    static let isPolling = true

    /// Its marks are those of bodies that have grown.
    init(wokenBy wakeup: Wakeup) {
        do throws(CurlRefusal) {
            table = try TransferTable(wokenBy: wakeup)
            refusal = .cancelled
        } catch {
            table = nil
            refusal = .unprepared(error.description)
        }
    }

    mutating func receive(_ command: TransferCommand) {
        if let table { table.obey(command) } else { refuse(command, refusal) }
    }

    mutating func turn(isLast: Bool) -> WorkerPause {
        guard let table, !isLast else { return .untilWoken }
        return WorkerPause(until: table.turn())
    }

    mutating func wait(for wakeup: Wakeup, _ pause: WorkerPause) {
        guard let table else { return wakeup.wait(pause) }
        if table.wait(milliseconds: pause.milliseconds) { wakeup.takeBack() }
    }

    mutating func end() { table?.cancelEverything() }

    mutating func refuse(_ command: TransferCommand) { refuse(command, .cancelled) }

    private func refuse(_ command: TransferCommand, _ ending: TransferResult.Ending) {
        if case .start(let start) = command { start.observer.transferDidEnd(.unstarted(ending)) }
    }
}

enum TransferCommand: Sendable {
    struct Start: Sendable {
        let id: TransferID
        let request: TransferRequest
        let observer: any TransferObserver
        /// Even in a hurry.
        let notBefore: ContinuousClock.Instant
        var due: ContinuousClock.Instant
    }

    /// At all transfers.
    case look
    indirect case start(Start)
    case hurry(TransferID)
    case cancel(TransferID)
}
