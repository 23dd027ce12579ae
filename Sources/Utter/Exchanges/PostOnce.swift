// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import SpeechService
internal import Upload

/// A request with the recording, whose answer is the transcript.
///
/// It is repeated from the first byte after failures that may pass: every resend is decided here
/// and numbered. libcurl resends nothing.
struct PostOnce: Exchange {
    private static let redirectLimit = 5
    /// A transfer that lived this long ends a row of failures.
    private static let provenAfter = Duration.seconds(3)
    /// The least pause in a hurry: what failed just now fails again.
    private static let shortestHurry = Duration.seconds(1)

    /// The idle time after which a connection is not used again: many services close theirs after
    /// 5 s, and a request that crosses the close is lost.
    static let longestIdleTime = Duration.seconds(4)

    private(set) var request: ExchangeRequest
    private(set) var takenCount: Int
    private(set) var needsLength = false
    /// The service can be asked about a request, so that one of unknown outcome may be repeated.
    var knowsOutcome = false
    private let origin: Origin
    private let allowed: [Origin]
    private let policy: RetryPolicy
    private let rule: RetryRule
    private let framing: BodyFraming
    private let detectsEnd: Bool
    private let sendsAudioAlone: Bool
    private let sendsSecret: Bool
    private let redact: @Sendable (String) -> String
    /// The origin to which a token that is not sent belongs.
    private var tokenOrigin: Origin?
    /// The service has refused chunks, and gets the length.
    private(set) var hasFallenBack = false
    private var redirects = 0
    private var hasSetClock = false
    private var failures = 0
    private var failuresAfterRelease = 0
    /// Sessions over a WebSocket, in a row, in which the service has said nothing.
    private var barrenSessions = 0
    private static let mostBarrenSessions = 3
    /// When the attempts of the last minute began, without those that were not awaited.
    private var starts = [Duration.zero]

    /// Earlier runs have made `attemptsBefore`, of which the service may have taken `takenBefore`
    /// whole.
    ///
    /// `wantsLength`: the length is said unless the framing must be chunked.
    init(
        url: ServiceURL, method: RequestMethod = .post, allowed: [Origin], policy: RetryPolicy,
        rule: RetryRule = RetryRule(),
        attemptsBefore: Int = 0, takenBefore: Int = 0, framing: BodyFraming = .auto,
        wantsLength: Bool = false, detectsEnd: Bool = false, sendsAudioAlone: Bool = true,
        sendsSecret: Bool = true,
        redact: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.redact = redact
        self.framing = framing
        self.detectsEnd = detectsEnd
        self.sendsAudioAlone = sendsAudioAlone
        self.sendsSecret = sendsSecret
        request = ExchangeRequest(
            number: attemptsBefore + 1, method: method, url: url,
            saysLength: framing == .length || framing == .auto && wantsLength)
        takenCount = takenBefore
        origin = url.origin
        self.allowed = allowed
        self.policy = policy
        self.rule = rule
    }

    init(
        _ plan: DeliveryPlan, wantsLength: Bool = false, attemptsBefore: Int = 0,
        takenBefore: Int = 0
    ) {
        let service = plan.service
        self.init(
            url: service.url, method: service.method, allowed: plan.redirectOrigins,
            policy: plan.retry, rule: service.retry, attemptsBefore: attemptsBefore,
            takenBefore: takenBefore,
            framing: service.url.isSocket ? .chunked : plan.framing, wantsLength: wantsLength,
            detectsEnd: service.detectsEnd || service.answer.values.stop != nil,
            sendsAudioAlone: service.body == .raw, sendsSecret: !service.credentials.isEmpty,
            redact: { service.redacted($0) })
        let authentication = service.authentication
        if authentication.token?.source != nil, service.credentials.isEmpty,
            !authentication.belongs(to: service.url.origin)
        {
            tokenOrigin = authentication.origin
        }
    }

    private func advice(after result: TransferResult, _ message: String?) -> RefusalAdvice? {
        if let tokenOrigin, result.status.map({ StatusVerdict.of(status: $0) }) == .tokenRefused {
            return .tokenOfOther(origin: tokenOrigin.description)
        }
        return RefusalAdvice(
            result, message: message, url: request.url, sendsAudioAlone: sendsAudioAlone,
            sendsSecret: sendsSecret, saysLength: request.saysLength, redact)
    }

    mutating func begin(isComplete: Bool) -> ExchangeRequest {
        request.isComplete = isComplete
        if isComplete, framing == .auto { request.saysLength = true }
        return request
    }

    mutating func renew() { request.number += 1 }

    /// The service has taken something since the failures before.
    mutating func noteProgress() {
        (failures, failuresAfterRelease, redirects) = (0, 0, 0)
        request.wantsFreshConnection = false
    }

    mutating func lead(to url: ServiceURL?) { request.url = url ?? request.url }

    mutating func sayLength() { (request.saysLength, hasFallenBack) = (true, true) }

    mutating func record(_ result: TransferResult) {
        guard result.mayBeTaken else { return }
        takenCount += 1
        if hasFallenBack, result.status != nil { needsLength = true }
    }

    mutating func next(
        after reply: Reply, isSpeaking: Bool, at now: Moment
    ) -> ExchangeStep {
        let result = reply.result
        var message = reply.message
        if case .serviceReported(let words, _)? = reply.failure { message = words }
        record(result)
        // A session may end at any time with the wish for another one.
        if result.status == 101, reply.failure != nil, rule.verdict(code: reply.code) == .retryable
        {
            let failure = TakeFailure.unavailable(status: 101, message: message)
            return retry(failure, after: result, isSpeaking: isSpeaking, at: now)
        }
        if result.isEarlyAnswer || result.status == 411,
            let step = nextAfterEarlyAnswer(result, reply.failure, at: now)
        {
            return step
        }
        let host = request.url.shownOrigin
        switch result.ending {
        case .answered: break
        case .insecure(let text):
            let socket = request.url.origin.socketPath.map { _ in host }
            return .failed(.insecure(reason: text, host: socket ?? request.url.origin.host))
        case .proxyRefused(let status): return .failed(.proxyRefused(status: status))
        case .notTLS(let text): return .failed(.notTLS(reason: text, host: host))
        case .badResponse(let text):
            // The flaw of the answer before it was too long says more.
            return .failed(
                reply.failure.map { .answerUnusable($0) } ?? .responseUnusable(reason: text))
        // A person's wish is known before: here the loops end, and the take is sent another time.
        case .cancelled: return .failed(.left)
        case .journalUnreadable, .unprepared:
            return .failed(.notDelivered(result.ending, host: host))
        case .cannotResolve, .cannotConnect, .connectionLost, .unproved, .timedOut:
            let failure = TakeFailure.notDelivered(result.ending, host: host)
            return retry(failure, after: result, isSpeaking: isSpeaking, at: now)
        }
        guard let status = result.status else {
            return .failed(.responseUnusable(reason: "there is no status"))
        }
        if setClock(by: reply, at: now) {
            request.number += 1
            return .request(after: Pause())
        }
        if reply.isAboutClock {
            let words = "the clock of this machine and the service's differ"
            let failure = TakeFailure.unavailable(status: status, message: words)
            return retry(failure, after: result, isSpeaking: isSpeaking, at: now)
        }
        if status == 417, !request.omitsExpectation {
            request.omitsExpectation = true
            request.number += 1
            return .request(after: Pause())
        }
        // A service does not say this (RFC 9110 §15.5.8).
        if status == 407 { return .failed(.proxyRefused(status: status)) }
        switch verdict(status, reply) {
        case .accepted: return reply.failure.map { .failed(.answerUnusable($0)) } ?? .answered
        case .redirect:
            return redirect(to: result.header("location"), at: now.elapsed)
        case .tokenRefused:
            let advice = advice(after: result, message)
            guard advice != .forbidden else {
                return .failed(.refused(status: status, message: message, advice: advice))
            }
            return .failed(.tokenRefused(status: status, message: message, advice: advice))
        case .retryable:
            let failure = TakeFailure.unavailable(status: status, message: message)
            return retry(failure, after: result, isSpeaking: isSpeaking, at: now)
        case .refused:
            return .failed(
                .refused(
                    status: status, message: message,
                    advice: advice(after: result, message)))
        case .unusable: return .failed(.responseUnusable(reason: "its status is \(status)"))
        }
    }

    /// Signs once more with the service's time, if it says that ours is wrong.
    private mutating func setClock(by reply: Reply, at now: Moment) -> Bool {
        guard !hasSetClock, reply.isAboutClock,
            let date = reply.result.header("date").flatMap(HTTPDate.seconds)
        else { return false }
        (hasSetClock, request.clockOffset) = (true, date - now.clock())
        return true
    }

    /// A good status may carry the code of a failure that passes.
    private func verdict(_ status: Int, _ reply: Reply) -> StatusVerdict {
        let verdict = rule.verdict(status: status, code: reply.code)
        guard verdict == .accepted, reply.failure != nil else { return verdict }
        return rule.verdict(code: reply.code) ?? verdict
    }

    /// Decides after an answer that came before the service had all; nil when it is as any other.
    ///
    /// It ends no recording, unless the service finds the end of the speech by itself. Servers
    /// without chunked bodies answer at once; they get the body's length, once.
    private mutating func nextAfterEarlyAnswer(
        _ result: TransferResult, _ failure: AnswerError?, at now: Moment
    ) -> ExchangeStep? {
        switch result.status.map({ StatusVerdict.of(status: $0) }) {
        case .accepted?: break
        case .refused? where result.status == 411: break
        default: return nil
        }
        let isAccepted = result.status != 411
        if isAccepted, detectsEnd { return nil }
        if framing == .auto, !request.saysLength {
            sayLength()
            request.number += 1
            starts.append(now.elapsed)
            return .request(after: Pause(isForLength: true))
        }
        guard isAccepted else { return nil }
        return failure.map { .failed(.answerUnusable($0)) } ?? .answeredInPart
    }

    mutating func retry(
        _ failure: TakeFailure, after result: TransferResult, isSpeaking: Bool, at now: Moment
    ) -> ExchangeStep {
        request.wantsFreshConnection = true
        // The service opens a session, and closes it soon, before it has said anything.
        let isBarren =
            result.status == 101 && result.receivedByteCount == 0
            && (result.timings.end ?? .zero) < Self.provenAfter
        barrenSessions = isBarren ? barrenSessions + 1 : 0
        if barrenSessions >= Self.mostBarrenSessions {
            return .failed(
                .responseUnusable(reason: "it opens sessions, and says nothing in them"))
        }
        // A service may speak nothing else.
        request.avoidsHTTP2 = result.mayHaveLostAnswer && !request.avoidsHTTP2
        if result.ending == .timedOut(.whole) { return .failed(failure) }
        // An answer that says that it failed leaves nothing unknown.
        if result.mayBeTaken, result.ending != .answered, !knowsOutcome,
            policy.unknownOutcome != .resend
        {
            return .failed(failure)
        }
        // That an idle connection was closed says nothing of the service.
        if result.hasReusedConnection, result.status == nil, !result.mayBeTaken {
            request.number += 1
            starts.append(now.elapsed)
            return .request(after: Pause())
        }
        if result.sentByteCount > 0, (result.timings.end ?? .zero) > Self.provenAfter {
            failures = 0
        }
        failures += 1
        if !isSpeaking { failuresAfterRelease += 1 }
        // The search for a name takes its time itself: a person who waits is told after the second.
        if case .cannotResolve = result.ending, !isSpeaking, failures > 1 {
            return .failed(failure)
        }
        let asked = rule.honoursRetryAfter ? result.pauseAsked : .zero
        // A person is told what the service wants, whatever is waited for.
        let isLong = rule.honoursRetryAfter && result.retryAfter > policy.longestRetryAfter
        let failure = isLong ? failure.naming(wait: result.retryAfter) : failure
        starts.removeAll { now.elapsed - $0 >= .seconds(60) }
        let pause = policy.pause(
            failures: failures, failuresAfterRelease: failuresAfterRelease,
            isSpeaking: isSpeaking, asked: asked,
            jitter: now.jitter(), recentAges: starts.map { now.elapsed - $0 })
        guard let pause else { return .failed(failure) }
        request.number += 1
        starts.append(now.elapsed + max(pause, asked))
        return .request(
            after: Pause(
                duration: max(pause, asked), atLeast: max(asked, min(pause, Self.shortestHurry)),
                waitableFrom: max(.zero, now.elapsed + asked - policy.longestRetryAfter),
                cause: failure, isForSpeaker: isSpeaking))
    }

    private static func shown(_ value: String?) -> String? {
        value.map { value in
            // A query may hold a secret that is not known here.
            let path = value.prefix { $0 != "?" }
            let text = TerminalText.shown(String(path))
            return path.endIndex == value.endIndex ? text : text + "?…"
        }
    }

    private mutating func redirect(to location: String?, at elapsed: Duration) -> ExchangeStep {
        let shown = Self.shown(location).map(redact) ?? "nowhere"
        func refuse(_ reason: String) -> ExchangeStep {
            .failed(.redirectRefused(location: shown, reason: reason))
        }
        guard let location else { return refuse("no Location was given") }
        guard redirects < Self.redirectLimit else {
            return refuse("it is redirect number \(redirects + 1)")
        }
        let target: ServiceURL
        do throws(ServiceError) {
            target = try request.url.resolving(location: location)
        } catch {
            return refuse(error.description)
        }
        guard target.origin == origin || allowed.contains(target.origin) else {
            return refuse("token and audio would go to another origin")
        }
        request.url = target
        redirects += 1
        request.number += 1
        starts.append(elapsed)
        return .request(after: Pause())
    }
}
