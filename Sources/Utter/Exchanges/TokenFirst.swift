// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import TakeStore
internal import Upload

/// Fetches a token before another exchange, and again when the service refuses it.
///
/// A lane fetches the token, and the other lanes wait for it before their next requests.
struct TokenFirst: Exchange {
    private let use: TokenExchange
    private let url: ServiceURL
    private let policy: RetryPolicy
    private var exchange: any Exchange
    /// The exchange that fetches a token, and its lane; nil while there is one.
    private var engine: PostOnce?
    private var fetchLane = 0
    /// A refused token may only be too old.
    private var mayRefresh: Bool
    /// The request after the token was made before.
    private var isRenewing = false
    /// How many tokens were fetched, and how many when the request of a lane began that is under way.
    private var (tokenCount, tokenCounts) = (0, [Int: Int]())

    init(
        _ exchange: any Exchange, fetching use: TokenExchange, at url: ServiceURL, hasToken: Bool,
        policy: RetryPolicy
    ) {
        self.exchange = exchange
        self.use = use
        self.url = url
        self.policy = policy
        mayRefresh = hasToken
        if !hasToken { fetch(on: 0) }
    }

    private mutating func fetch(on lane: Int) {
        fetchLane = lane
        var policy = policy
        policy.unknownOutcome = .resend
        engine = PostOnce(
            url: url, allowed: [], policy: policy,
            attemptsBefore: exchange.request(of: lane).number - 1, framing: .chunked)
    }

    private func isFetching(on lane: Int) -> Bool { engine != nil && lane == fetchLane }

    var request: ExchangeRequest {
        engine == nil ? exchange.request : request(of: fetchLane)
    }

    func request(of lane: Int) -> ExchangeRequest {
        let next = exchange.request(of: lane)
        guard isFetching(on: lane), var request = engine?.request else { return next }
        // No attempt to deliver the take: the number is that of what follows.
        request.number = next.number
        request.step = StepRequest(
            method: use.method, content: StepRequest.Content(), use: .token(use))
        return request
    }

    var laneCount: Int { exchange.laneCount }
    var outlivesSecrets: Bool { exchange.outlivesSecrets }
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
        if isFetching(on: lane) { return .request(begin(isComplete: recording.isComplete)) }
        // A request that is noted already may have the old token.
        guard engine == nil || tokenCounts[lane] != nil else { return .token }
        let beginning = exchange.begin(lane: lane, of: recording)
        if case .request = beginning {
            tokenCounts[lane] = tokenCounts[lane] ?? tokenCount
        } else {
            tokenCounts[lane] = nil
        }
        return beginning
    }

    mutating func renew() { exchange.renew() }

    mutating func record(_ result: TransferResult) { record(result, lane: 0) }

    mutating func record(_ result: TransferResult, lane: Int) {
        tokenCounts[lane] = nil
        if !isFetching(on: lane) { exchange.record(result, lane: lane) }
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
        isFetching(on: lane) ? words : exchange.transcript(with: words, of: lane)
    }

    mutating func next(
        after reply: Reply, isSpeaking: Bool, at now: Moment
    ) -> ExchangeStep { next(after: reply, lane: 0, isSpeaking: isSpeaking, at: now) }

    mutating func next(
        after reply: Reply, lane: Int, isSpeaking: Bool, at now: Moment
    ) -> ExchangeStep {
        guard !isFetching(on: lane) else {
            return fetched(reply, isSpeaking: isSpeaking, at: now)
        }
        let step = exchange.next(after: reply, lane: lane, isSpeaking: isSpeaking, at: now)
        let isNewest = tokenCounts.removeValue(forKey: lane) == tokenCount
        guard case .failed(.tokenRefused(let status, _, _)) = step else {
            // A good token may be too old for the next request, hours of speech later.
            if isNewest { mayRefresh = true }
            return step
        }
        // 403 says that the client may not; a good status has the code of a token that is too old.
        let isOld = !isNewest || engine != nil || status != 403 && mayRefresh
        // A new token that was refused is fetched again where another secret is asked for.
        if engine == nil, isNewest, isOld || exchange.outlivesSecrets {
            if isOld { (mayRefresh, isRenewing) = (false, true) }
            fetch(on: lane)
        }
        guard isOld else { return step }
        exchange.renew()
        return .request(after: Pause(isOfNextStep: true))
    }

    private mutating func fetched(
        _ reply: Reply, isSpeaking: Bool, at now: Moment
    ) -> ExchangeStep {
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
        tokenCount += 1
        defer { isRenewing = false }
        return .request(after: Pause(isOfNextStep: !isRenewing))
    }
}
