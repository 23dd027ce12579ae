// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The answers that have been given, so that a recording that is sent twice is recognised once.
///
/// Kept by the request's `Idempotency-Key`, and valid for a body of the same length and SHA-256.
/// In memory, the latest ones only. Usable from any thread; never blocks.
final class AnswerLedger: Sendable {
    /// The most answers, and the most words in them, that are kept.
    static let answerLimit = 256
    static let wordLimit = 100_000

    struct Ticket: Sendable, Hashable {
        let key: String
        fileprivate let number: Int
    }

    struct Answer: Sendable {
        let body: BodyIdentity
        let recognition: Recognition
    }

    enum Admission {
        /// No answer has been given under this key: recognise the body.
        ///
        /// The request may have taken the place of one that is about to free its recogniser.
        case new(Ticket, takesPlace: Bool)
        case answered(Answer)
    }

    private struct State {
        var running: [String: (number: Int, giveUp: @Sendable () -> Void)] = [:]
        var answers: [String: Answer] = [:]
        /// The keys of the answers, the oldest first.
        var order: [String] = []
        var nextNumber = 0

        var wordCount: Int { answers.values.reduce(0) { $0 + $1.recognition.words.count } }
    }

    private let state = Mutex(State())

    /// Lets a request in.
    ///
    /// One with the same key that is not answered yet is given up: a client that sends again has
    /// lost that connection.
    ///
    /// `giveUp` is called at most once, when another request takes this one's place.
    func admit(_ key: String, giveUp: @escaping @Sendable () -> Void) -> Admission {
        let (admission, before) = state.withLock { state -> (Admission, (@Sendable () -> Void)?) in
            if let answer = state.answers[key] { return (.answered(answer), nil) }
            let before = state.running[key]?.giveUp
            state.nextNumber += 1
            state.running[key] = (state.nextNumber, giveUp)
            let ticket = Ticket(key: key, number: state.nextNumber)
            return (.new(ticket, takesPlace: before != nil), before)
        }
        before?()
        return admission
    }

    /// Keeps an answer, unless another request has taken this one's place.
    ///
    /// Called before the answer is sent, since it may not arrive.
    func commit(_ ticket: Ticket, _ answer: Answer) {
        state.withLock { state in
            // One that took its place and failed does not count.
            let running = state.running[ticket.key]?.number ?? ticket.number
            guard running == ticket.number, state.answers[ticket.key] == nil else { return }
            state.running[ticket.key] = nil
            state.answers[ticket.key] = answer
            state.order.append(ticket.key)
            while state.order.count > 1,
                state.order.count > Self.answerLimit || state.wordCount > Self.wordLimit
            {
                state.answers[state.order.removeFirst()] = nil
            }
        }
    }

    /// Forgets a request that came to nothing; without effect after `commit`.
    func abandon(_ ticket: Ticket) {
        state.withLock { state in
            guard state.running[ticket.key]?.number == ticket.number else { return }
            state.running[ticket.key] = nil
        }
    }
}
