// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// The transfer thread: obeys commands, and gives libcurl its turn.
struct TransferWorker: Worker {
    /// Nil when libcurl could not be set up.
    private let table: TransferTable?
    /// The end of every transfer without a table.
    private let refusal: TransferResult.Ending

    init() {
        do throws(CurlRefusal) {
            table = try TransferTable()
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

    mutating func wait(for wakeup: Int32, _ pause: WorkerPause) -> Bool {
        table?.wait(for: wakeup, milliseconds: pause.milliseconds) ?? pause.wait(for: wakeup)
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

    case start(Start)
    case hurry(TransferID)
    case cancel(TransferID)
}
