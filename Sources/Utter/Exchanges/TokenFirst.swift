// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import TakeStore
internal import Upload

/// Fetches a token before another exchange, and again when the service refuses it.
struct TokenFirst: Exchange {
    private let use: TokenExchange
    private let url: ServiceURL
    private let policy: RetryPolicy
    private var exchange: any Exchange
    /// The exchange that fetches a token; nil while there is one.
    private var engine: PostOnce?
    /// A refused token may only be too old.
    private var mayRefresh: Bool
    /// The request after the token was made before.
    private var isRenewing = false

    init(
        _ exchange: any Exchange, fetching use: TokenExchange, at url: ServiceURL, hasToken: Bool,
        policy: RetryPolicy
    ) {
        self.exchange = exchange
        self.use = use
        self.url = url
        self.policy = policy
        mayRefresh = hasToken
        if !hasToken { fetch() }
    }

    private mutating func fetch() {
        var policy = policy
        policy.unknownOutcome = .resend
        engine = PostOnce(
            url: url, allowed: [], policy: policy,
            attemptsBefore: exchange.request.number - 1, framing: .chunked)
    }

    var request: ExchangeRequest {
        guard var request = engine?.request else { return exchange.request }
        // No attempt to deliver the take: the number is that of what follows.
        request.number = exchange.request.number
        request.step = StepRequest(
            method: use.method, content: StepRequest.Content(), use: .token(use))
        return request
    }

    var takenCount: Int { exchange.takenCount }
    var traits: ServiceTraits { exchange.traits }
    var progress: ExchangeProgress? { exchange.progress }
    var sendsDigest: Bool { exchange.sendsDigest }
    var storedByteCount: Int? { exchange.storedByteCount }

    mutating func begin(isComplete: Bool) -> ExchangeRequest {
        guard engine != nil else { return exchange.begin(isComplete: isComplete) }
        _ = engine?.begin(isComplete: isComplete)
        return request
    }

    mutating func begin(lane: Int, of recording: RecordingExtent) -> Beginning {
        guard engine != nil else { return exchange.begin(lane: lane, of: recording) }
        return .request(begin(isComplete: recording.isComplete))
    }

    mutating func renew() { exchange.renew() }

    mutating func record(_ result: TransferResult) {
        if engine == nil { exchange.record(result) }
    }

    mutating func learn(from interim: AnswerHead) {
        if engine == nil { exchange.learn(from: interim) }
    }

    mutating func need(of recording: RecordingExtent) -> StretchNeed? {
        exchange.need(of: recording)
    }

    mutating func learn(_ cuts: [StretchCut], of start: Int) { exchange.learn(cuts, of: start) }

    mutating func rest(_ isResting: Bool) { exchange.rest(isResting) }

    var isAnswered: Bool { exchange.isAnswered }

    func reach(of stretch: StretchRequest) -> StretchReach { exchange.reach(of: stretch) }

    func transcript(with words: Transcript, of lane: Int) -> Transcript {
        engine == nil ? exchange.transcript(with: words, of: lane) : words
    }

    mutating func next(
        after reply: Reply, isSpeaking: Bool, at now: Moment
    ) -> ExchangeStep {
        guard engine != nil else {
            let step = exchange.next(after: reply, isSpeaking: isSpeaking, at: now)
            // 403 says that the client may not; a good status has the code of a token that is too old.
            guard case .failed(.tokenRefused(let status, _, _)) = step else {
                // A good token may be too old for the next request, hours of speech later.
                mayRefresh = true
                return step
            }
            guard status != 403, mayRefresh else { return step }
            (mayRefresh, isRenewing) = (false, true)
            exchange.renew()
            fetch()
            return .request(after: Pause(isOfNextStep: true))
        }
        var plain = reply
        plain.failure = nil
        switch engine?.next(after: plain, isSpeaking: isSpeaking, at: now) {
        case .request(let pause)?: return .request(after: pause)
        case .failed(.refused(let status, let message, let advice))?:
            return .failed(.tokenRefused(status: status, message: message, advice: advice))
        case .failed(let failure)?: return .failed(failure)
        case .answered?, .answeredInPart?, .idle?, nil: break
        }
        guard reply.hasToken else {
            return .failed(
                .answerUnusable(
                    .missingText(path: use.token?.description ?? "", excerpt: "")))
        }
        engine = nil
        defer { isRenewing = false }
        return .request(after: Pause(isOfNextStep: !isRenewing))
    }
}
