// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import Utter
package import UtterTerminal

/// The takes that run now, as signals and keys reach them.
///
/// Requests come on the thread of the signals, everything else on the thread that runs takes.
final class RunningTake: Sendable {
    private struct State {
        var takes: [Take] = []
        /// The newest that have ended on a disk that failed, of which the person was told.
        var unprotected: ArraySlice<TakeID> = []
        /// The first request to end the program.
        var farewell: Request?
        var hasBegun = false
        /// Whether a stop has come before that, which is for the first.
        var isStopped = false
        /// How the process will end, once the last take is over.
        var status: ExitStatus?
        /// Where a person begins and ends takes: what to do about requests, and whether it did.
        var obeys: (@Sendable (Request) -> Bool)?
        /// Called when the program is asked to end.
        var leaves: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    var farewellStatus: ExitStatus? { farewell?.status }

    var farewell: Request? { state.withLock { $0.farewell } }

    /// The second Ctrl-C, or one after the last take, means: now, whatever waits for a disk; and
    /// so does the end of the time that a signal has left.
    func obey(_ request: Request) {
        if let obeys = state.withLock({ $0.obeys }), obeys(request) { return }
        if case .key(let meaning, _) = request {
            if meaning == .dismiss { obeyForAll(.dismiss) }
            return
        }
        obeyForAll(request)
    }

    /// Obeys what is about all takes and the program.
    func obeyForAll(_ request: Request) {
        guard request != .line, request != .toggle else {
            let takes = state.withLock { state in
                if !state.hasBegun { state.isStopped = true }
                return state.takes
            }
            for take in takes { take.stop() }
            return
        }
        let leaves = state.withLock { $0.farewell == nil ? $0.leaves : nil }
        let (takes, status) = state.withLock { state -> ([Take], ExitStatus?) in
            let isUrgent = request == .cancel || request == .dismiss || request == .leaveNow
            if isUrgent, let status = state.status ?? state.farewell?.status {
                return ([], status)
            }
            guard state.farewell == nil else { return ([], nil) }
            state.farewell = request
            return (state.takes, nil)
        }
        if let status { leave(status) }
        leaves?()
        for take in takes { take.end(for: request) }
    }

    /// Lets another obey what is not about the whole program; whether a stop has come before.
    func attach(_ obeys: @escaping @Sendable (Request) -> Bool) -> Bool {
        state.withLock { state in
            state.obeys = obeys
            defer { state.isStopped = false }
            return state.isStopped
        }
    }

    /// Has something done when the program is asked to end, or has been.
    func whenLeaving(_ body: @escaping @Sendable () -> Void) {
        let isLeaving = state.withLock { state in
            state.leaves = body
            return state.farewell != nil
        }
        if isLeaving { body() }
    }

    func detach() { state.withLock { $0.obeys = nil } }

    /// Makes a take the one that is meant; stops it, or ends it, when that was asked for before.
    func begin(_ take: Take) {
        let (farewell, isStopped) = state.withLock { state in
            state.takes.append(take)
            defer { (state.hasBegun, state.isStopped) = (true, false) }
            return (state.farewell, state.isStopped)
        }
        if isStopped { take.stop() }
        if let farewell { take.end(for: farewell) }
    }

    /// Says that a take is over, and whether the person knows that the disk has failed it.
    func end(_ take: Take, isUnprotected: Bool) {
        state.withLock { state in
            // A new array: the sanitizer would not see that the old one is not read any more.
            state.takes = state.takes.filter { $0.id != take.id }
            if isUnprotected { state.unprotected = (state.unprotected + [take.id]).suffix(1_000) }
        }
    }

    func isUnprotected(_ take: TakeID) -> Bool {
        state.withLock { $0.unprotected.contains(take) }
    }

    /// Says that no take follows, and how the process will end.
    ///
    /// Writes to the disk that are left have the rest of the time that a signal leaves.
    func finish(_ status: ExitStatus) {
        state.withLock { state in
            state.takes = []
            state.status = status
        }
    }

    private func leave(_ status: ExitStatus) -> Never {
        KeyTerminal.putRight()
        // A pipe that is not read is not waited for.
        if StandardError.isWritable {
            // The shell's prompt belongs on a line of its own.
            if StandardError.isTerminal { StandardError.write(LiveText.erasure()) }
            StandardError.line("left without waiting for the disk; what is there: utter list")
        }
        _exit(status.rawValue)
    }
}

extension Take {
    fileprivate func end(for farewell: Request) {
        if farewell == .cancel || farewell == .dismiss { cancel() } else { leave() }
    }
}

extension Request {
    /// How a process ends that this has ended.
    package var status: ExitStatus {
        switch self {
        case .leave(signal: SIGHUP): .hungUp
        case .leave, .leaveNow: .terminated
        case .cancel, .dismiss, .line, .toggle, .key: .cancelled
        }
    }
}
