// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import FoundationEssentials
internal import HTTPTypes
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

    enum Admission {
        /// No whole body has come with this key yet: recognise it.
        case new(Ticket)
        /// There is an answer, or will be in a moment: only the body's identity matters.
        case known
    }

    enum Verdict: Sendable, Equatable {
        case replay(Recognition)
        case conflict
        case gone
    }

    private struct Entry {
        let number: Int
        let giveUp: @Sendable () -> Void
        var body: BodyIdentity?
        var answer: Recognition?
        var waiting: [CheckedContinuation<Verdict, Never>] = []
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// The keys that have been answered, the longest unused first.
        var order: [String] = []
        var nextNumber = 0

        /// Changes the entry of a request whose place no other has taken.
        mutating func change<Result>(
            _ ticket: Ticket, _ change: (inout Entry?) -> Result
        ) -> Result? {
            guard let entry = entries[ticket.key], entry.number == ticket.number,
                entry.answer == nil
            else { return nil }
            return change(&entries[ticket.key])
        }

        /// Notes the use of an answer, and forgets the longest unused ones beyond the limits.
        mutating func use(_ key: String) {
            order.removeAll { $0 == key }
            order.append(key)
            while order.count > 1, order.count > answerLimit || wordCount > wordLimit {
                entries[order.removeFirst()] = nil
            }
        }

        private var wordCount: Int {
            order.reduce(0) { $0 + (entries[$1]?.answer?.words.count ?? 0) }
        }
    }

    private let state = Mutex(State())

    /// Lets a request in; `giveUp` is called once at most, when another takes its place.
    ///
    /// One with the same key whose body has not been whole yet is given up: a client that sends
    /// again has lost that connection.
    func admit(_ key: String, giveUp: @escaping @Sendable () -> Void) -> Admission {
        let (admission, before) = state.withLock { state -> (Admission, Entry?) in
            let before = state.entries[key]
            if before?.body != nil { return (.known, nil) }
            state.nextNumber += 1
            state.entries[key] = Entry(number: state.nextNumber, giveUp: giveUp)
            let ticket = Ticket(key: key, number: state.nextNumber)
            return (.new(ticket), before)
        }
        before?.giveUp()
        return admission
    }

    /// Says that a body was whole; false when another request has taken its place.
    func complete(_ ticket: Ticket, _ body: BodyIdentity) -> Bool {
        state.withLock { $0.change(ticket) { $0?.body = body } } != nil
    }

    /// Keeps an answer; called before it is sent, since it may not arrive.
    func commit(_ ticket: Ticket, _ recognition: Recognition) {
        let waiting = state.withLock { state in
            let waiting = state.change(ticket) { entry in
                entry?.answer = recognition
                defer { entry?.waiting = [] }
                return entry?.waiting ?? []
            }
            if waiting != nil { state.use(ticket.key) }
            return waiting
        }
        for continuation in waiting ?? [] { continuation.resume(returning: .replay(recognition)) }
    }

    /// Forgets a request that came to nothing; without effect after `commit`.
    func abandon(_ ticket: Ticket) {
        let entry = state.withLock { $0.change(ticket) { $0.take() } } ?? nil
        for continuation in entry?.waiting ?? [] { continuation.resume(returning: .gone) }
    }

    /// The verdict on `key` for a whole body; waits for an answer that is about to be given.
    func verdict(_ key: String, _ body: BodyIdentity) async -> Verdict {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Verdict? in
                guard let entry = state.entries[key], let known = entry.body else { return .gone }
                guard known.isSame(as: body) else { return .conflict }
                guard let answer = entry.answer else {
                    state.entries[key]?.waiting.append(continuation)
                    return nil
                }
                state.use(key)
                return .replay(answer)
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}

/// By what a whole body is known again: its length and its SHA-256.
///
/// An id alone would not do: a body that was cut and one that is whole have the same.
struct BodyIdentity: Sendable {
    private var digest = SHA256()
    private(set) var byteCount = 0

    mutating func add(_ bytes: Span<UInt8>) {
        digest.update(bytes)
        byteCount += bytes.count
    }

    func isSame(as other: BodyIdentity) -> Bool {
        byteCount == other.byteCount && digest.bytes == other.digest.bytes
    }

    /// Whether a `Content-Digest` field (RFC 9530 §2) is about this body; true for other
    /// algorithms than SHA-256, and without one.
    func agrees(with contentDigest: String?) -> Bool {
        let members = (contentDigest ?? "").split(separator: ",").map { $0.drop { $0 == " " } }
        guard let stated = members.first(where: { $0.hasPrefix("sha-256=:") }) else { return true }
        return stated == "sha-256=:\(Data(digest.bytes).base64EncodedString()):"
    }
}

/// The head's claim about its body: which recording it is, and its digest.
struct BodyClaim: Sendable {
    private static let longestKey = 255

    /// The value of `Idempotency-Key`, the same for every attempt to send one recording; nil
    /// without one.
    var key: String?
    /// The value of `Content-Digest` (RFC 9530 §2), or nil without one.
    var digest: String?

    init(_ fields: HTTPFields) throws(Refusal) {
        key = fields[named: "Idempotency-Key"]
        digest = fields[named: "Content-Digest"]
        if let key, key.isEmpty || key.utf8.count > Self.longestKey {
            throw Refusal(
                400, "the Idempotency-Key is empty or longer than \(Self.longestKey) bytes")
        }
    }
}
