// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import Utter

/// Takes that a person begins and ends: one, or one after another.
///
/// The thread of the signals says what was asked for, the talk's thread starts the takes, and the
/// task of the command shows them and prints their texts.
final class TalkSession: TalkDelegate {
    /// A take that has begun.
    struct Started: Sendable {
        var number: Int
        var take: Take
        var delivery: DeliveryPlan
    }

    private struct State {
        var talk: Talk?
        /// Whether no take begins any more.
        var isOver = false
        /// Whether the only take was given up already.
        var isDismissed = false
    }

    /// The takes, in the order in which they begin.
    let started: AsyncStream<Started>

    private let state = Mutex(State())
    private let continuation: AsyncStream<Started>.Continuation
    private let isForOne: Bool
    private let start: @Sendable () -> (Take, DeliveryPlan)
    private let say: @Sendable (TalkMachine.News) -> Void
    private let endAll: @Sendable (Request) -> Void

    /// Prepares to start takes.
    ///
    /// - Parameters:
    ///   - isForOne: whether the first is the only one.
    ///   - start: starts a take.
    ///   - say: tells the person; from the talk's thread.
    ///   - endAll: obeys what is about the whole program.
    init(
        isForOne: Bool, start: @escaping @Sendable () -> (Take, DeliveryPlan),
        say: @escaping @Sendable (TalkMachine.News) -> Void,
        endAll: @escaping @Sendable (Request) -> Void
    ) {
        (started, continuation) = AsyncStream.makeStream()
        (self.isForOne, self.start, self.say, self.endAll) = (isForOne, start, say, endAll)
    }

    /// Says who decides.
    func obeys(_ talk: Talk) { state.withLock { $0.talk = talk } }

    // MARK: - The talk's thread

    func startTake(_ number: Int) -> Take? {
        guard !state.withLock({ $0.isOver }) else { return nil }
        let (take, delivery) = start()
        continuation.yield(Started(number: number, take: take, delivery: delivery))
        if isForOne { finish() }
        return take
    }

    func tell(_ news: TalkMachine.News) { say(news) }

    /// The takes' own events are shown.
    func show(_ phase: TalkMachine.Phase, of take: Int?, isLatched: Bool) {}

    /// Lets no take begin any more.
    func finish() {
        state.withLock { $0.isOver = true }
        continuation.finish()
    }

    // MARK: - The thread of the signals

    /// Obeys.
    ///
    /// - Returns: false when the request is about the whole program.
    func obey(_ request: Request) -> Bool {
        guard let talk = state.withLock({ $0.talk }) else { return false }
        switch request {
        case .key(let meaning, let instant): return obey(meaning, at: instant, talk)
        case .toggle: talk.handle(.toggle)
        case .line:
            if isForOne { talk.ifRecording { talk.handle(.stop) } } else { talk.handle(.toggle) }
        case .dismiss: return dismiss(isUrgent: false, talk)
        case .cancel: return dismiss(isUrgent: true, talk)
        case .leave:
            finish()
            return false
        case .leaveNow: return false
        }
        return true
    }

    private func obey(
        _ key: KeyInterpreter.Meaning, at instant: ContinuousClock.Instant, _ talk: Talk
    ) -> Bool {
        switch key {
        case .down: talk.handle(.keyDown, at: instant)
        case .up: talk.handle(.keyUp, at: instant)
        case .focusLost: talk.handle(.focusLost, at: instant)
        case .press: talk.handle(.toggle, at: instant)
        case .finish: talk.ifRecording { talk.handle(.stop, at: instant) }
        case .end:
            talk.ifRecording {
                talk.handle(.stop, at: instant)
            } otherwise: {
                self.finish()
            }
        case .quit:
            talk.ifRecording {
            } otherwise: {
                self.finish()
            }
        case .dismiss: return dismiss(isUrgent: false, talk)
        case .signal: break
        }
        return true
    }

    /// Gives the newest take up; false when the whole program is to end.
    ///
    /// Ctrl-C is urgent: it ends a loop in which nothing runs, and the second waits for nothing.
    private func dismiss(isUrgent: Bool, _ talk: Talk) -> Bool {
        guard isForOne else {
            talk.look { [self] phase in
                guard phase == .idle else { return talk.handle(.cancel) }
                guard isUrgent else { return }
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

extension Talk {
    /// Does the one or the other on the talk's thread, after all that was said before.
    fileprivate func ifRecording(
        _ body: @escaping @Sendable () -> Void, otherwise: @escaping @Sendable () -> Void = {}
    ) {
        look { phase in if phase == .arming || phase == .recording { body() } else { otherwise() } }
    }
}
