// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import SpeechService
internal import TakeStore
internal import Upload

/// Decides which requests deliver one part of a take: the next request, a wait, or the outcome.
///
/// Pure: it is told how each request has ended, and says what follows. Nothing else knows how many
/// requests make a delivery. `PostOnce` makes one, `JobExchange` the steps of a job, `TokenFirst`
/// fetches a token before either. Others are values beside them. Those that send the recording in
/// pieces need a body that ends before the recording does, and an account that adds the pieces up:
/// `TakeOutcome` takes the last attempt for the whole body. Besides, each needs what is named here:
///
/// - *Create, then append from the offset that the server names* (tus, the IETF draft): the range
///   of the body is the request's, not the part's; the URL that the server has made is written down
///   with the attempt (`TakeMachine.Action.note`), before the first byte goes there.
/// - *Parts and a commit* (S3): each request sends a range of known length, as soon as the journal
///   has it: one more reason to wait beside the seal (`TakeMachine.Delivery.waiting`).
/// - *Segments in parallel*: several parts of one take, each with an exchange of its own.
protocol Exchange: Sendable {
    /// The request that is under way, or begins as soon as it may.
    var request: ExchangeRequest { get }

    /// How many requests the service may have taken whole, over all runs.
    var takenCount: Int { get }

    /// Whether the service takes a body with its length only, and has shown that it does.
    var needsLength: Bool { get }

    /// What a take must remember for another process to go on; nil when that begins anew.
    var progress: ExchangeProgress? { get }

    /// Begins the request, or says again which one begins.
    ///
    /// One that says a length waits until the recording `isComplete`.
    mutating func begin(isComplete: Bool) -> ExchangeRequest

    /// Decides after one request; when another follows, `request` is that one.
    mutating func next(after reply: Reply, isSpeaking: Bool, at now: Moment) -> ExchangeStep

    /// Has the request that was refused made once more, under the next number.
    mutating func renew()

    /// Counts a request that nothing follows; `next` counts all others.
    mutating func record(_ result: TransferResult)
}

struct ExchangeRequest: Sendable, Equatable {
    /// Its number, from 1 over all runs of the take.
    var number: Int
    var method: RequestMethod
    var url: ServiceURL
    /// Whether it says the body's length, and so waits for the end of the recording.
    var saysLength: Bool
    var isComplete = false
    /// Whether a connection that an earlier take has left may not carry it.
    var wantsFreshConnection = false
    /// What it carries, and what its answer is, when that is not the recording and the transcript.
    var step: StepRequest?

    var carriesRecording: Bool { step?.content == nil }
    /// Whether it asks for a token, which is no attempt to deliver the take.
    var isForToken: Bool { if case .token? = step?.use { true } else { false } }
}

struct StepRequest: Sendable, Equatable {
    enum Use: Sendable, Equatable {
        /// That to a step of a job, perhaps the last one.
        case job(JobStep, isLast: Bool)
        case token(TokenExchange)
    }

    var method: StepMethod
    /// Its fields beside those that every request has.
    var headers: [HeaderField] = []
    /// What it carries; nil is the recording.
    var content: Content?
    /// Whether the service's secrets go with it.
    var carriesSecrets: Bool
    var use: Use

    struct Content: Sendable, Equatable {
        /// The bytes; none is no body.
        var bytes: [UInt8] = []
        var mediaType: String?

        /// A JSON document; nil is nothing.
        init(_ document: [UInt8]? = nil) {
            bytes = document ?? []
            mediaType = document == nil ? nil : "application/json"
        }
    }
}

enum ExchangeStep: Sendable, Equatable {
    case answered
    /// The answer is good, but of a part of the recording only, and another would be no better.
    case answeredInPart
    case request(after: Pause)
    case failed(TakeFailure)
}

/// What lies between two requests.
struct Pause: Sendable, Equatable {
    /// How long it is, unless the speaker ends before.
    var duration = Duration.zero
    /// How long it is even then: what the service has asked for.
    var atLeast = Duration.zero
    /// A speaker who ends before this would wait for longer than a person is made to.
    var waitableFrom = Duration.zero
    /// Why the request before failed; nil for a redirect.
    var cause: TakeFailure?
    /// Whether the recording still went on: the pause then ends with it.
    var isForSpeaker = false
    /// Whether the next request says its length, because the service takes no chunks.
    var isForLength = false
    /// Whether the next request is another than the one before, which went well.
    var isOfNextStep = false

    /// What is left of it when the speaker has ended.
    var hurried: Pause {
        var pause = self
        if isForSpeaker { pause.duration = atLeast }
        return pause
    }
}

struct Reply: Sendable {
    var result: TransferResult
    var transcript = Transcript()
    /// Why the body of a good status is no answer; nil when it is one.
    var failure: AnswerError?
    var message: String?
    /// The service's own code of an error, from a refusal's body or an answer that failed.
    var code: String?
    /// What the answer to a step of a job says; nil without a good status.
    var verdict: StepVerdict?
    var hasToken = false
}

/// What a decision depends on and no event says: the time, and chance.
struct Moment: Sendable {
    /// The time since the take began, by a clock that is never set.
    var elapsed = Duration.zero
    /// From 0 to 1; made when a pause asks for it.
    let jitter: @Sendable () -> Double

    init(
        elapsed: Duration = .zero, jitter: @autoclosure @escaping @Sendable () -> Double = 0
    ) {
        (self.elapsed, self.jitter) = (elapsed, jitter)
    }
}

extension Exchange {
    var progress: ExchangeProgress? { nil }
}

extension TransferResult {
    /// Whether the service may have taken the take: it had the whole body, and has not refused.
    ///
    /// Without a complete answer it cannot be known.
    var mayBeTaken: Bool {
        isBodyComplete && status.map { StatusVerdict.of(status: $0) == .accepted } ?? true
    }
}

extension DeliveryPlan {
    /// Makes what decides which requests deliver a take, before the first of them.
    func makeExchange(
        from progress: ExchangeProgress? = nil, wantsLength: Bool = false, attemptsBefore: Int = 0,
        takenBefore: Int = 0, hasToken: Bool = false
    ) -> any Exchange {
        let exchange: any Exchange =
            switch service.exchange {
            case .post:
                PostOnce(
                    self, wantsLength: wantsLength, attemptsBefore: attemptsBefore,
                    takenBefore: takenBefore)
            case .job(let plan):
                JobExchange(
                    plan, self, from: progress, wantsLength: wantsLength,
                    attemptsBefore: attemptsBefore, takenBefore: takenBefore)
            }
        guard let (use, request) = service.tokenRequest(uuid: "") else { return exchange }
        return TokenFirst(
            exchange, fetching: use, at: request.url, hasToken: hasToken, policy: retry)
    }
}

extension RecognitionService {
    /// The request for the token that opens the service; nil when it needs none, or when its secret
    /// is missing.
    func tokenRequest(uuid: String) -> (use: TokenExchange, request: TokenRequest)? {
        guard case .token(let use) = authentication.use, let secrets = ClientSecrets(of: self),
            // One that cannot be made has been refused before the take (`checkSecrets`).
            let request = try? use.request(with: secrets, uuid: uuid)
        else { return nil }
        return (use, request)
    }
}
