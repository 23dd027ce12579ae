// SPDX-License-Identifier: Apache-2.0

internal import SpeechService

/// A range of a take's journal, what delivers it, and what came back.
struct TakePart: Sendable {
    typealias Result = Swift.Result<Transcript, TakeFailure>

    enum Delivery: Sendable {
        /// What the first byte of a body waits for.
        enum Wait { case journal, seal, secrets }

        /// The next request cannot begin yet.
        case waiting(for: Wait)
        /// The next request is being written down, and begins after the pause.
        case noting(Pause)
        /// A request is under way, or in its pause.
        case sending(ExchangeRequest, Pause)
        /// A request is being written down that will not begin.
        case withdrawing(Result)
        /// A request is being broken off; how far it came is awaited.
        case breakingOff(ExchangeRequest, Result)
        case done(Result)
    }

    /// The journal's byte at which it begins; it ends with the journal.
    let start: Int
    var exchange: any Exchange
    var delivery = Delivery.waiting(for: .journal)
    var transcript = Transcript()
    /// When its result was known, since the take began.
    var resultAt: Duration?
    /// Its body's `Content-Digest`, once it is known.
    var digest: String?
    /// Whether that is known, or being computed.
    var isDigested = false

    init(start: Int, exchange: any Exchange, digest: String? = nil) {
        self.start = start
        self.exchange = exchange
        (self.digest, isDigested) = (digest, digest != nil)
    }

    /// Says what counts instead of what a service has said, but not of what the person wanted.
    mutating func overrule(by failure: TakeFailure) {
        guard case .done(let result) = delivery else { return }
        if case .failure(let before) = result, before.isUnwanted || before == .left { return }
        delivery = .done(.failure(failure))
    }
}
