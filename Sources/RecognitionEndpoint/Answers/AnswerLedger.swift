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

    /// A request whose body is to be recognised.
    struct Ticket: Sendable, Hashable {
        let key: String
        fileprivate let number: Int
    }

    /// What becomes of a request with a key.
    enum Admission {
        /// Nobody has sent a whole body with this key yet: recognise it.
        ///
        /// It may have taken the place of a request that is about to free its recogniser.
        case new(Ticket, takesPlace: Bool)
        /// There is an answer, or will be in a moment: only the body's identity matters.
        case known
    }

    /// What is known of a key for a whole body.
    enum Verdict: Sendable, Equatable {
        /// The same body was answered with this.
        case replay(Recognition)
        /// Another body came with this key.
        case conflict
        /// The request that was to give the answer has failed.
        case gone
    }

    private enum Entry {
        /// A body comes; it may still break off. The closure gives the request up.
        case running(Int, giveUp: @Sendable () -> Void)
        /// The body was whole; its answer is awaited, also by later requests.
        case finishing(Int, BodyIdentity, [CheckedContinuation<Verdict, Never>])
        case answered(BodyIdentity, Recognition)
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// The keys that have been answered, the longest unused first.
        var order: [String] = []
        var wordCount = 0
        var nextNumber = 0

        /// Forgets the longest unused answers beyond the limits.
        mutating func evict() {
            while order.count > AnswerLedger.answerLimit
                || (wordCount > AnswerLedger.wordLimit && order.count > 1)
            {
                let key = order.removeFirst()
                if case .answered(_, let recognition)? = entries.removeValue(forKey: key) {
                    wordCount -= recognition.words.count
                }
            }
        }
    }

    private let state = Mutex(State())

    /// Lets a request in.
    ///
    /// One with the same key whose body has not been whole yet is given up: whoever sends again
    /// has lost that connection.
    ///
    /// - Parameters:
    ///   - key: the value of the request's `Idempotency-Key`.
    ///   - giveUp: called at most once, when another request takes this one's place.
    /// - Returns: whether its body is to be recognised.
    func admit(_ key: String, giveUp: @escaping @Sendable () -> Void) -> Admission {
        let (admission, before) = state.withLock { state -> (Admission, (@Sendable () -> Void)?) in
            var before: (@Sendable () -> Void)?
            switch state.entries[key] {
            case .finishing, .answered: return (.known, nil)
            case .running(_, let giveUp): before = giveUp
            case nil: break
            }
            state.nextNumber += 1
            state.entries[key] = .running(state.nextNumber, giveUp: giveUp)
            let ticket = Ticket(key: key, number: state.nextNumber)
            return (.new(ticket, takesPlace: before != nil), before)
        }
        before?()
        return admission
    }

    /// Says that a body was whole; false when another request has taken its place.
    func complete(_ ticket: Ticket, _ body: BodyIdentity) -> Bool {
        state.withLock { state in
            guard case .running(ticket.number, _) = state.entries[ticket.key] else { return false }
            state.entries[ticket.key] = .finishing(ticket.number, body, [])
            return true
        }
    }

    /// Keeps an answer; called before it is sent, since it may not arrive.
    func commit(_ ticket: Ticket, _ recognition: Recognition) {
        let waiting = state.withLock { state -> [CheckedContinuation<Verdict, Never>] in
            guard case .finishing(ticket.number, let body, let waiting) = state.entries[ticket.key]
            else { return [] }
            state.entries[ticket.key] = .answered(body, recognition)
            state.order.append(ticket.key)
            state.wordCount += recognition.words.count
            state.evict()
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: .replay(recognition)) }
    }

    /// Forgets a request that came to nothing; without effect after `commit`.
    func abandon(_ ticket: Ticket) {
        let waiting = state.withLock { state -> [CheckedContinuation<Verdict, Never>] in
            switch state.entries[ticket.key] {
            case .running(ticket.number, _):
                state.entries[ticket.key] = nil
                return []
            case .finishing(ticket.number, _, let waiting):
                state.entries[ticket.key] = nil
                return waiting
            default: return []
            }
        }
        for continuation in waiting { continuation.resume(returning: .gone) }
    }

    /// What is known of `key` for a whole body; waits for an answer that is about to be given.
    func verdict(_ key: String, _ body: BodyIdentity) async -> Verdict {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Verdict? in
                switch state.entries[key] {
                case .answered(body, let recognition)?:
                    state.order.removeAll { $0 == key }
                    state.order.append(key)
                    return .replay(recognition)
                case .finishing(let number, body, let waiting)?:
                    state.entries[key] = .finishing(number, body, waiting + [continuation])
                    return nil
                case .answered?, .finishing?: return .conflict
                case .running?, nil: return .gone
                }
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
