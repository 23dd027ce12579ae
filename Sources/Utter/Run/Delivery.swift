// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import Upload

/// Decides what follows a transfer: the transcript, another transfer, or the end.
///
/// Every resend is decided here and numbered. libcurl decides none.
struct Delivery {
    /// More redirects than this are a loop.
    private static let redirectLimit = 5
    /// A transfer that lived this long was none of a row of failures.
    private static let provenAfter = Duration.seconds(3)
    /// The least pause that a hurry leaves: what failed just now fails again.
    private static let shortestHurry = Duration.seconds(1)

    /// How long a connection may have been idle to carry a take.
    ///
    /// Many services close theirs after 5 s: a request that crosses the close is lost.
    static let longestIdleTime = Duration.seconds(4)

    /// Where the present attempt goes.
    private(set) var url: ServiceURL
    /// The number of the present attempt, from 1 over all runs.
    private(set) var attempt: Int
    /// How many attempts the service may have taken whole, over all runs.
    private(set) var takenCount: Int
    private let origin: Origin
    private let allowed: [Origin]
    private let policy: RetryPolicy
    private let framing: BodyFraming
    private let detectsEnd: Bool
    /// Takes the service's secrets out of a text.
    private let redact: @Sendable (String) -> String
    /// Whether the next attempt says the body's length, and so waits for the end of the recording.
    private(set) var saysLength: Bool
    /// Whether the service has shown that it does not take chunks.
    private(set) var hasFallenBack = false
    /// Whether a connection that an earlier take has left may not be used any more.
    private(set) var wantsFreshConnection = false
    private var redirects = 0
    private var failures = 0
    private var failuresAfterRelease = 0
    /// When the attempts of this run began, as far as they were waited for.
    private var starts = [Duration.zero]

    /// What follows.
    enum Step: Equatable {
        /// The answer is good.
        case answered
        /// The answer is good, but of a part of the recording only, and another would be no better.
        case answeredInPart
        /// Post again from the journal's start.
        case resend(Pause)
        /// No more attempts.
        case failed(TakeFailure)
    }

    /// What lies between two attempts.
    struct Pause: Equatable {
        /// How long it is, unless the speaker ends before.
        var duration = Duration.zero
        /// How long it is even then: what the service has asked for.
        var atLeast = Duration.zero
        /// Why the attempt before failed; nil for a redirect.
        var cause: TakeFailure?
        /// Whether the recording still went on: the pause then ends with it.
        var isForSpeaker = false
        /// Whether the next attempt says its length, because the service takes no chunks.
        var isForLength = false
    }

    /// What is known of the take when a transfer ends.
    struct Circumstances {
        /// Whether the recording still goes on.
        var isSpeaking: Bool
        /// From 0 to 1.
        var jitter: Double
        /// The time since the take began, by a clock that nobody sets.
        var elapsed = Duration.zero
    }

    /// Prepares the first attempt of this run.
    ///
    /// Earlier runs have made `attemptsBefore`, of which the service may have taken `takenBefore`
    /// whole. The service is known not to take chunks if `wantsLength`.
    init(
        url: ServiceURL, allowed: [Origin], policy: RetryPolicy, attemptsBefore: Int = 0,
        takenBefore: Int = 0, framing: BodyFraming = .auto, wantsLength: Bool = false,
        detectsEnd: Bool = false, redact: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.redact = redact
        self.framing = framing
        self.detectsEnd = detectsEnd
        saysLength = framing == .length || framing == .auto && wantsLength
        self.url = url
        attempt = attemptsBefore + 1
        takenCount = takenBefore
        origin = url.origin
        self.allowed = allowed
        self.policy = policy
    }

    /// Whether the service may have had the whole take more than once.
    var mayBeDoubled: Bool { takenCount > 1 }

    /// Says that the recording is complete: what begins now knows its length.
    mutating func noteComplete() {
        if framing == .auto { saysLength = true }
    }

    /// Counts a transfer that nothing follows; `next` counts all others.
    mutating func record(_ result: TransferResult) {
        if Self.mayBeTaken(result) { takenCount += 1 }
    }

    /// Decides after one transfer.
    ///
    /// - Parameters:
    ///   - result: how the transfer ended.
    ///   - answer: nil when the answer was read as one; why it is none otherwise.
    ///   - message: the service's own words, from a refusal's body.
    ///   - circumstances: what else is known.
    /// - Returns: what to do.
    mutating func next(
        after result: TransferResult, answer: AnswerError?, message: String?,
        _ circumstances: Circumstances
    ) -> Step {
        record(result)
        if result.isEarlyAnswer || result.status == 411,
            let step = nextAfterEarlyAnswer(result, answer, circumstances)
        {
            return step
        }
        switch result.ending {
        case .answered: break
        case .insecure(let text): return .failed(.insecure(reason: text, host: url.origin.host))
        case .notTLS(let text):
            return .failed(.notTLS(reason: text, host: url.origin.description))
        case .badResponse(let text): return .failed(.responseUnusable(reason: text))
        case .cancelled: return .failed(.cancelled)
        case .journalUnreadable, .unprepared:
            return .failed(.notDelivered(result.ending, host: url.origin.description))
        case .cannotResolve, .cannotConnect, .connectionLost, .timedOut:
            let failure = TakeFailure.notDelivered(result.ending, host: url.origin.description)
            return retry(failure, after: result, circumstances)
        }
        guard let status = result.status else {
            return .failed(.responseUnusable(reason: "there is no status"))
        }
        switch StatusVerdict.of(status: status) {
        case .accepted: return answer.map { .failed(.answerUnusable($0)) } ?? .answered
        case .redirect:
            return redirect(to: result.header("location"), at: circumstances.elapsed)
        case .tokenRefused:
            return .failed(
                .tokenRefused(
                    status: status, message: message,
                    advice: RefusalAdvice(result, message: message, url: url, redact)))
        case .retryable:
            let failure = TakeFailure.unavailable(status: status, message: message)
            return retry(failure, after: result, circumstances)
        case .refused:
            return .failed(
                .refused(
                    status: status, message: message,
                    advice: RefusalAdvice(result, message: message, url: url, redact)))
        case .unusable: return .failed(.responseUnusable(reason: "its status is \(status)"))
        }
    }

    /// Decides after an answer that came before the service had all.
    ///
    /// It ends no recording, unless the service is known to find the end of the speech by itself.
    /// Servers that know no chunked bodies answer at once; they get the body's length, once.
    ///
    /// - Returns: nil when the answer is judged like any other.
    private mutating func nextAfterEarlyAnswer(
        _ result: TransferResult, _ answer: AnswerError?, _ circumstances: Circumstances
    ) -> Step? {
        switch result.status.map({ StatusVerdict.of(status: $0) }) {
        case .accepted?: break
        case .refused? where result.status == 411: break
        default: return nil
        }
        let isAccepted = result.status != 411
        if isAccepted, detectsEnd { return nil }
        if framing == .auto, !saysLength {
            (saysLength, hasFallenBack) = (true, true)
            attempt += 1
            starts.append(circumstances.elapsed)
            return .resend(Pause(isForLength: true))
        }
        guard isAccepted else { return nil }
        return answer.map { .failed(.answerUnusable($0)) } ?? .answeredInPart
    }

    private mutating func retry(
        _ failure: TakeFailure, after result: TransferResult, _ circumstances: Circumstances
    ) -> Step {
        wantsFreshConnection = true
        if result.ending == .timedOut(.whole) { return .failed(failure) }
        let mayBeTaken = Self.mayBeTaken(result)
        if mayBeTaken, policy.unknownOutcome != .resend { return .failed(failure) }
        // That an idle connection was closed says nothing of the service.
        if result.hasReusedConnection, result.status == nil, !mayBeTaken {
            attempt += 1
            starts.append(circumstances.elapsed)
            return .resend(Pause())
        }
        if result.sentByteCount > 0, (result.timings.end ?? .zero) > Self.provenAfter {
            failures = 0
        }
        failures += 1
        if !circumstances.isSpeaking { failuresAfterRelease += 1 }
        // The search for a name takes its time itself: a person who waits is told after the second.
        if case .cannotResolve = result.ending, !circumstances.isSpeaking, failures > 1 {
            return .failed(failure)
        }
        let asked = result.retryAfter
        let pause = policy.pause(
            failures: failures, failuresAfterRelease: failuresAfterRelease,
            isSpeaking: circumstances.isSpeaking, asked: asked,
            jitter: circumstances.jitter,
            recentAges: starts.map { circumstances.elapsed - $0 }.filter { $0 < .seconds(60) })
        guard let pause else {
            return .failed(asked > policy.longestRetryAfter ? failure.naming(wait: asked) : failure)
        }
        attempt += 1
        starts.append(circumstances.elapsed + max(pause, asked))
        return .resend(
            Pause(
                duration: max(pause, asked), atLeast: max(asked, min(pause, Self.shortestHurry)),
                cause: failure, isForSpeaker: circumstances.isSpeaking))
    }

    /// Whether the service may have taken the take: it had the whole body, and has not refused.
    ///
    /// Without a complete answer nobody can know.
    static func mayBeTaken(_ result: TransferResult) -> Bool {
        result.isBodyComplete
            && result.status.map { StatusVerdict.of(status: $0) == .accepted } ?? true
    }

    /// A field's value for a person, or nil without one.
    private static func shown(_ value: String?) -> String? {
        value.map { TerminalText.cut(TerminalText.singleLine(TerminalText.sanitized($0))) }
    }

    private mutating func redirect(to location: String?, at elapsed: Duration) -> Step {
        let shown = Self.shown(location).map(redact) ?? "nowhere"
        func refuse(_ reason: String) -> Step {
            .failed(.redirectRefused(location: shown, reason: reason))
        }
        guard let location else { return refuse("no Location was given") }
        guard redirects < Self.redirectLimit else {
            return refuse("it is redirect number \(redirects + 1)")
        }
        let target: ServiceURL
        do throws(ServiceError) {
            target = try url.resolving(location: location)
        } catch {
            return refuse(error.description)
        }
        guard target.origin == origin || allowed.contains(target.origin) else {
            return refuse("token and audio would go to another origin")
        }
        url = target
        redirects += 1
        attempt += 1
        starts.append(elapsed)
        return .resend(Pause())
    }
}
