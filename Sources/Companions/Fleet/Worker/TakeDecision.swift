// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// The consequence of the end of a call.
enum TakeDecision: Equatable {
    /// The thing that a failure speaks against.
    enum Blame {
        case take
        /// The worker's account of the service is wrong.
        case account
        /// The service is away, or busy.
        case nothing
    }

    case text
    /// The take will fail each time.
    case death(reason: String)
    /// It is tried another time, after what the service wants to be waited for.
    case again(reason: String, asked: Duration, Blame)
    case left

    init(_ outcome: TakeOutcome) {
        let asked = outcome.attempts.last?.result.pauseAsked ?? .zero
        switch outcome.result {
        case .failure(let failure): self.init(failure, asked: asked)
        case .success where outcome.isStored:
            self = .again(reason: "the service recognises nothing", asked: asked, .account)
        case .success(let transcript):
            if let shortfall = outcome.shortfall {
                // A silent recording is silent each time; half an answer is not.
                self =
                    transcript.text.isEmpty && outcome.hadAll
                    ? .death(reason: shortfall)
                    : .again(reason: shortfall, asked: asked, .take)
            } else if let reason = outcome.cutShort {
                self = .again(reason: reason, asked: asked, .nothing)
            } else {
                self = .text
            }
        }
    }

    init(_ failure: TakeFailure, asked: Duration) {
        let reason = failure.description
        let blame: Blame
        switch failure {
        case .capture(.unusableAudio), .capture(.foreignAudio), .capture(.noSound),
            .capture(.notSound), .encoding,
            .outsideLimits, .tooShort, .refused(400, _, _), .refused(413, _, _),
            .refused(415, _, _), .refused(422, _, _):
            self = .death(reason: reason)
            return
        case .left:
            self = .left
            return
        case .tokenRefused, .secretMissing, .proxyRefused, .insecure, .notTLS, .redirectRefused:
            blame = .account
        case .refused(let status, _, _):
            blame = [404, 405, 407, 410, 501, 505].contains(status) ? .account : .take
        // Proxies answer 502 and 504 while the service begins anew.
        case .unavailable(let status, _):
            blame = [429, 502, 503, 504].contains(status) ? .nothing : .take
        case .notDelivered: blame = failure.isOfConnecting ? .nothing : .take
        case .journal, .capture(.limitReached): blame = .nothing
        case .capture, .answerUnusable, .responseUnusable, .unfinished, .cancelled: blame = .take
        }
        self = .again(reason: reason, asked: asked, blame)
    }
}

/// The store's history of a take, by which a worker decides before it tries.
struct TakeHistory {
    /// By their numbers.
    var attempts: [Int: AttemptNote]
    /// Attempts up to this one were forgiven by a person.
    var forgiven = 0

    var nextNumber: Int { (attempts.keys.max() ?? 0) + 1 }

    private var counted: [(key: Int, value: AttemptNote)] {
        attempts.filter { $0.key > forgiven && $0.value.counts }.sorted { $0.key < $1.key }
    }

    var failures: Int { counted.count }

    /// Why the take is given up; nil while there are tries left.
    ///
    /// One whose worker did not live to write its end counts half: machines are killed for other
    /// reasons than a take, which is hardly the reason ten times.
    func death(limit: Int) -> String? {
        let weight = counted.reduce(0) { $0 + ($1.value.ended == nil ? 1 : 2) }
        guard weight >= 2 * limit else { return nil }
        let reason =
            counted.last?.value.reason ?? "its worker did not live to tell how it ended"
        return "given up after \(failures) tries: \(reason)"
    }

    /// Between tries of one take: 1 s to 5 min.
    static func pause(
        after failures: Int, asked: Duration, share: Double = .random(in: 0...1)
    ) -> Duration {
        var backoff = Backoff(from: .seconds(1), to: .seconds(300), after: failures - 1)
        return backoff.next(asked: asked, share: share)
    }
}
