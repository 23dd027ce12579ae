// SPDX-License-Identifier: Apache-2.0

package import Utter

/// What follows of the end of a call.
package enum TakeDecision: Sendable, Equatable {
    /// The text is the take's.
    case text
    /// The take will fail each time.
    case death(reason: String)
    /// It is tried another time.
    ///
    /// - `asked`: what the service wants to be waited for.
    /// - `counts`: whether it says something against the take.
    /// - `isOfService`: the worker's account of the service is wrong; no take is the reason.
    case again(reason: String, asked: Duration, counts: Bool, isOfService: Bool)
    /// The worker leaves.
    case left

    /// Decides by how a take ended.
    package init(_ outcome: TakeOutcome) {
        let asked = outcome.attempts.last?.result.retryAfter ?? .zero
        switch outcome.result {
        case .success(let transcript):
            if outcome.isStored {
                self = .again(
                    reason: "the service recognises nothing", asked: asked, counts: false,
                    isOfService: true)
            } else if let shortfall = outcome.shortfall {
                // A silent recording is silent each time; half an answer is not.
                self =
                    transcript.text.isEmpty && outcome.isWhole
                    ? .death(reason: shortfall)
                    : .again(reason: shortfall, asked: asked, counts: true, isOfService: false)
            } else if outcome.cutShort != nil {
                self = .again(
                    reason: outcome.cutShort ?? "", asked: asked, counts: false, isOfService: false)
            } else {
                self = .text
            }
        case .failure(let failure): self.init(failure, asked: asked)
        }
    }

    /// With another name in place of a file's.
    func naming(_ name: String, in path: String) -> TakeDecision {
        switch self {
        case .death(let reason): .death(reason: reason.replacing(path, with: name))
        case .again(let reason, let asked, let counts, let isOfService):
            .again(
                reason: reason.replacing(path, with: name), asked: asked, counts: counts,
                isOfService: isOfService)
        case .text, .left: self
        }
    }

    package init(_ failure: TakeFailure, asked: Duration) {
        let reason = failure.description
        let counted = TakeDecision.again(
            reason: reason, asked: asked, counts: true, isOfService: false)
        let pardoned = TakeDecision.again(
            reason: reason, asked: asked, counts: false, isOfService: false)
        let ofService = TakeDecision.again(
            reason: reason, asked: asked, counts: false, isOfService: true)
        switch failure {
        case .capture(.unusableAudio), .capture(.foreignAudio), .capture(.noSound), .encoding,
            .outsideLimits, .tooShort:
            self = .death(reason: reason)
        case .refused(let status, _, _):
            switch status {
            case 400, 413, 415, 422: self = .death(reason: reason)
            case 404, 405, 407, 410, 501, 505: self = ofService
            default: self = counted
            }
        case .tokenRefused, .secretMissing, .proxyRefused, .insecure, .notTLS, .redirectRefused:
            self = ofService
        case .unavailable(let status, _): self = [429, 503].contains(status) ? pardoned : counted
        case .notDelivered: self = failure.isOfConnecting ? pardoned : counted
        case .journal, .capture(.limitReached): self = pardoned
        case .left: self = .left
        case .capture, .answerUnusable, .responseUnusable, .unfinished, .cancelled: self = counted
        }
    }
}

/// What a worker does with a take before it tries, by what the store has of it.
package struct TakeHistory: Sendable, Equatable {
    /// Notes by their numbers.
    package var attempts: [Int: AttemptNote]
    /// Attempts up to this one were forgiven by a person.
    package var forgiven: Int

    package init(attempts: [Int: AttemptNote], forgiven: Int = 0) {
        (self.attempts, self.forgiven) = (attempts, forgiven)
    }

    package var nextNumber: Int { (attempts.keys.max() ?? 0) + 1 }

    private var counted: [(key: Int, value: AttemptNote)] {
        attempts.filter { $0.key > forgiven && $0.value.counts }.sorted { $0.key < $1.key }
    }

    /// How many tries count against the take.
    package var failures: Int { counted.count }

    /// Why the take is given up; nil while there are tries left.
    ///
    /// One whose worker did not live to write its end counts half: machines are killed for other
    /// reasons than a take, which is hardly the reason ten times.
    package func death(limit: Int) -> String? {
        let weight = counted.reduce(0) { $0 + ($1.value.ended == nil ? 1 : 2) }
        guard weight >= 2 * limit else { return nil }
        let reason =
            counted.last?.value.reason ?? "its worker did not live to tell how it ended"
        return "given up after \(failures) tries: \(reason)"
    }

    /// Between tries of one take: 1 s to 5 min.
    package static func pause(
        after failures: Int, asked: Duration, share: Double = .random(in: 0...1)
    ) -> Duration {
        let limit = min(Duration.seconds(300), .seconds(1 << min(max(failures - 1, 0), 9)))
        return max(asked, limit / 2 + (limit / 2) * share)
    }
}
