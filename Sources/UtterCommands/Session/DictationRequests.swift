// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import Utter
internal import UtterTerminal

/// The meaning of keys, lines on a pipe and signals for a dictation in a terminal.
///
/// Called on the thread of the signals; what is asked of the dictation is done on its own.
final class DictationRequests: Sendable {
    private struct State {
        var isOver = false
        var isDismissed = false
    }

    private let dictation: Dictation
    private let isForOne: Bool
    private let endAll: @Sendable (Request) -> Void
    private let state = Mutex(State())

    /// `endAll` obeys what is about the whole program.
    init(
        to dictation: Dictation, isForOne: Bool, endAll: @escaping @Sendable (Request) -> Void
    ) {
        (self.dictation, self.isForOne, self.endAll) = (dictation, isForOne, endAll)
    }

    func finish() {
        state.withLock { $0.isOver = true }
        dictation.finish()
    }

    /// Ends the loop, and gives up what is recorded behind the word that asks for that.
    func end() { dictation.handle(.cancel) { [self] _ in finish() } }

    /// False when the request is about the whole program.
    func obey(_ request: Request) -> Bool {
        switch request {
        case .key(let meaning, let instant): return obey(meaning, at: instant)
        case .toggle: dictation.handle(.toggle)
        case .line: dictation.handle(isForOne ? .stop : .toggle)
        case .dismiss: return dismiss(isUrgent: false)
        case .cancel: return dismiss(isUrgent: true)
        case .leave:
            finish()
            return false
        case .leaveNow: return false
        }
        return true
    }

    private func obey(
        _ key: KeyInterpreter.Meaning, at instant: ContinuousClock.Instant
    ) -> Bool {
        switch key {
        case .down: dictation.handle(.keyDown, at: instant)
        case .up: dictation.handle(.keyUp, at: instant)
        case .focusLost: dictation.handle(.focusLost, at: instant)
        case .press: dictation.handle(.toggle, at: instant)
        case .finish: dictation.handle(.stop, at: instant)
        case .end:
            dictation.handle(.stop, at: instant) { [self] in if $0 == .nothing { finish() } }
        case .quit:
            dictation.look { [self] phase in
                if ![.arming, .recording, .paused].contains(phase) { finish() }
            }
        case .pause: dictation.handle(.pauseOrResume)
        case .dismiss: return dismiss(isUrgent: false)
        case .signal: break
        }
        return true
    }

    /// Gives the newest take up; false when the whole program is to end.
    ///
    /// Ctrl-C is urgent: it ends a loop in which nothing runs, and the second waits for nothing.
    private func dismiss(isUrgent: Bool) -> Bool {
        guard isForOne else {
            dictation.handle(.cancel) { [self] reply in
                guard reply == .nothing, isUrgent else { return }
                if state.withLock({ $0.isOver }) { endAll(.cancel) }
                finish()
            }
            return true
        }
        finish()
        // Escape is repeated when it is held, and that is not urgent.
        let wasDismissed = state.withLock { state in
            defer { state.isDismissed = true }
            return state.isDismissed
        }
        return wasDismissed && !isUrgent
    }
}
