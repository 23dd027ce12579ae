// SPDX-License-Identifier: Apache-2.0

// A question for a secret may ask a person, who speaks meanwhile: no request begins before its answer,
// and the recording waits for none.
extension TakeMachine {
    enum Secrets: Sendable {
        /// Asked with the first sample.
        case wanted
        case asked
        /// Answered; asked again when the service refuses them.
        case answered
        /// Refused; the second answer is awaited.
        case refused(TakeFailure)
        case known

        var areKnown: Bool {
            switch self {
            case .wanted, .asked, .refused: false
            case .answered, .known: true
            }
        }
    }

    /// Asks for the secrets, unless no request follows.
    mutating func ask() {
        guard case .wanted = secrets, delivery.result == nil else { return }
        secrets = .asked
        actions.append(.ask(after: nil))
    }

    /// Asks again for secrets that were asked for in this run, and refused; false if none can come.
    mutating func askAgain(for lane: Int, after failure: TakeFailure) -> Bool {
        guard failure.refusesSecret else { return false }
        switch secrets {
        case .answered:
            secrets = .refused(failure)
            actions.append(.ask(after: failure))
        // Another lane has asked.
        case .refused: break
        case .wanted, .asked, .known: return false
        }
        delivery.lanes[lane] = .waiting(for: .secrets)
        return true
    }

    /// Goes on with another exchange, which learns of the pause that lasts.
    mutating func use(_ exchange: any Exchange) {
        delivery.exchange = exchange
        delivery.exchange.rest(isResting)
    }

    mutating func take(_ answer: Swift.Result<any Exchange, TakeFailure>, _ now: Moment) {
        var refusal: TakeFailure?
        switch secrets {
        case .asked: secrets = .answered
        case .refused(let failure): (secrets, refusal) = (.known, failure)
        case .wanted, .answered, .known: return
        }
        switch answer {
        case .success(let exchange):
            // Before the first secrets nothing was sent; later requests on other lanes go on.
            if refusal == nil || !delivery.exchange.outlivesSecrets {
                use(exchange)
            }
            if exchange.request.number > 1 { digest() }
            beginAll()
        case .failure(let failure):
            // That the service has refused the first answer says more than that there is no other.
            let failure = refusal ?? failure
            if isRecording { actions.append(.tell(.refused(failure))) }
            conclude(.failure(failure), now)
        }
    }
}
