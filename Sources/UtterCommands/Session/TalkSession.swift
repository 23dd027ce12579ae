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
        var phase = TalkMachine.Phase.idle
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

    /// Prepares to start takes.
    ///
    /// - Parameters:
    ///   - isForOne: whether the first is the only one.
    ///   - start: starts a take.
    ///   - say: tells the person; from the talk's thread.
    init(
        isForOne: Bool, start: @escaping @Sendable () -> (Take, DeliveryPlan),
        say: @escaping @Sendable (TalkMachine.News) -> Void
    ) {
        (started, continuation) = AsyncStream.makeStream()
        (self.isForOne, self.start, self.say) = (isForOne, start, say)
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

    func show(_ phase: TalkMachine.Phase, of take: Int?, isLatched: Bool) {
        state.withLock { $0.phase = phase }
    }

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
        let (talk, phase) = state.withLock { ($0.talk, $0.phase) }
        let isRecording = phase == .arming || phase == .recording
        switch request {
        case .key(.down): talk?.handle(.keyDown)
        case .key(.up): talk?.handle(.keyUp)
        case .key(.focusLost): talk?.handle(.focusLost)
        case .key(.press), .toggle: talk?.handle(.toggle)
        case .line: if isRecording || !isForOne { talk?.handle(.toggle) }
        case .key(.finish): if isRecording { talk?.handle(.stop) }
        case .key(.end): if isRecording { talk?.handle(.stop) } else { finish() }
        case .key(.quit): if !isRecording { finish() }
        case .key(.dismiss), .dismiss, .cancel: return dismiss(request, talk, phase)
        case .leave:
            finish()
            return false
        case .key(.signal), .leaveNow: return false
        }
        return true
    }

    private func dismiss(_ request: Request, _ talk: Talk?, _ phase: TalkMachine.Phase) -> Bool {
        guard isForOne else {
            guard phase == .idle else {
                talk?.handle(.cancel)
                return true
            }
            let wasOver = state.withLock { $0.isOver }
            if request == .cancel { finish() }
            return request != .cancel || !wasOver
        }
        finish()
        // Escape is repeated when it is held, and that is not urgent.
        let wasDismissed = state.withLock { state in
            defer { state.isDismissed = true }
            return state.isDismissed
        }
        return wasDismissed && request != .cancel
    }
}
