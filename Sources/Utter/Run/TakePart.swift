// SPDX-License-Identifier: Apache-2.0

internal import SpeechService

/// A range of a take's journal, its exchange, and the result.
struct TakePart: Sendable {
    typealias Result = Swift.Result<Transcript, TakeFailure>

    enum Delivery: Sendable {
        enum Wait { case journal, seal, secrets }

        case waiting(for: Wait)
        /// The next request is being noted, and begins after the pause.
        case noting(Pause)
        /// Under way, or in its pause.
        case sending(ExchangeRequest, Pause)
        /// A request is being noted that will not begin.
        case withdrawing(Result)
        /// A request is being broken off; its end is awaited.
        case breakingOff(ExchangeRequest, Result)
        case done(Result)
    }

    /// In bytes of the journal; the part ends with the journal.
    let start: Int
    var exchange: any Exchange
    var delivery = Delivery.waiting(for: .journal)
    var transcript = Transcript()
    /// Since the take began.
    var resultAt: Duration?
    /// `Content-Digest`, once it is known.
    var digest: String?
    /// Known, or being computed.
    var isDigested = false

    init(start: Int, exchange: any Exchange, digest: String? = nil) {
        self.start = start
        self.exchange = exchange
        (self.digest, isDigested) = (digest, digest != nil)
    }

    /// Replaces what a service has said, but not what the person wanted.
    mutating func overrule(by failure: TakeFailure) {
        guard case .done(let result) = delivery else { return }
        if case .failure(let before) = result, before.isUnwanted || before == .left { return }
        delivery = .done(.failure(failure))
    }
}
