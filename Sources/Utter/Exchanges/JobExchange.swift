// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import SpeechService
internal import TakeStore
internal import Upload

/// Several requests in a row: such as upload, create, poll and fetch.
///
/// Each is delivered as by `PostOnce`, and its answer judged by its step. `progress` holds what
/// answers have said: it is noted before the next request, so that another process can go on.
struct JobExchange: Exchange {
    private let plan: JobPlan
    private let delivery: DeliveryPlan
    private let fingerprint: String
    private var index = 0
    private var values: [String: String] = [:]
    private var engine: PostOnce
    private var step: StepRequest?
    private let wantsLength: Bool
    private var pollCount = 0
    /// Answers in which the job is in a state that is not known.
    private var strangeCount = 0
    private static let strangeLimit = 5
    /// Answers in a row that say nothing of the job, as a page of something in between.
    private var oddCount = 0
    private static let oddLimit = 8
    private var waitingSince: Duration?
    private var hasAnsweredInPart = false
    /// Requests with the recording that the service may have taken whole.
    private var takenBefore: Int
    /// How often the service may have carried out the current step without an answer.
    private var unknownCount = 0
    /// Repetitions that may have done something twice.
    private var repetitions = 0

    init(
        _ plan: JobPlan, _ delivery: DeliveryPlan, from progress: ExchangeProgress? = nil,
        wantsLength: Bool = false, attemptsBefore: Int = 0, takenBefore: Int = 0
    ) {
        self.plan = plan
        self.delivery = delivery
        self.wantsLength = wantsLength
        self.takenBefore = takenBefore
        fingerprint = delivery.fingerprint(
            with: plan.steps.map { "\($0.name) \($0.url ?? "") \($0.content)" })
        engine = PostOnce(
            delivery, wantsLength: wantsLength, attemptsBefore: attemptsBefore,
            takenBefore: takenBefore)
        if let progress, progress.plan == fingerprint,
            let index = plan.steps.firstIndex(where: { $0.name == progress.step })
        {
            (self.index, values) = (index, progress.values)
            unknownCount = progress.unknown ?? 0
        }
        if prepare(number: attemptsBefore + 1) == nil { return }
        // The captured values lead nowhere.
        forget()
        // The profile's own URL is left when a step's makes no sense.
        _ = prepare(number: attemptsBefore + 1)
    }

    // MARK: - The request

    private var current: JobStep { plan.steps[index] }
    private var carriesRecording: Bool { current.content == .recording }
    /// Each request of the step does something; `engine` counts those with the recording.
    private var isDeed: Bool { current.method == .post && !current.isPoll && !carriesRecording }

    var request: ExchangeRequest {
        var request = engine.request
        request.step = step
        request.step?.carriesSecrets = delivery.trusts(request.url.origin)
        return request
    }

    /// Makes the request of the current step, or returns why it cannot be made.
    private mutating func prepare(number: Int) -> TakeFailure? {
        let step = current
        let service = delivery.service
        let values = service.words.merging(values) { _, captured in captured }
        var url: ServiceURL
        do throws(ServiceError) {
            url = try step.target(from: service.url, by: values)
            guard !step.isLed(by: self.values) || plan.allows(url.origin, of: service.url.origin)
            else {
                return .redirectRefused(
                    location: TerminalText.shown(url.description),
                    reason: "the service's profile does not name that origin")
            }
            if url.origin == service.url.origin { url = service.naming(url) }
            self.step = step.request(
                try step.fields(by: values), by: values,
                for: .job(step, isLast: index == plan.steps.count - 1))
        } catch {
            return .redirectRefused(
                location: "another URL", reason: error.description)
        }
        var policy = delivery.retry
        // A question can be asked twice.
        if step.method == .get { policy.unknownOutcome = .resend }
        engine = PostOnce(
            url: url, allowed: delivery.redirectOrigins, policy: policy, rule: service.retry,
            attemptsBefore: number - 1,
            takenBefore: takenBefore, framing: carriesRecording ? delivery.framing : .chunked,
            wantsLength: wantsLength, detectsEnd: service.detectsEnd,
            sendsAudioAlone: service.body == .raw, redact: { service.redacted($0) })
        return nil
    }

    mutating func begin(isComplete: Bool) -> ExchangeRequest {
        _ = engine.begin(isComplete: isComplete)
        return request
    }

    mutating func renew() { engine.renew() }

    // MARK: - What is known

    var takenCount: Int {
        repetitions > 0 ? max(1, recordingCount) + repetitions : recordingCount
    }

    private var recordingCount: Int { carriesRecording ? engine.takenCount : takenBefore }

    var traits: ServiceTraits {
        ServiceTraits(wantsLength: carriesRecording && engine.needsLength)
    }

    var progress: ExchangeProgress? {
        guard index > 0 || unknownCount > 0 else { return nil }
        return ExchangeProgress(
            step: current.name, values: values, plan: fingerprint,
            unknown: unknownCount > 0 ? unknownCount : nil)
    }

    mutating func record(_ result: TransferResult) {
        if carriesRecording { engine.record(result) }
        noteDeed(result)
    }

    private mutating func noteDeed(_ result: TransferResult) {
        guard isDeed, result.mayBeTaken else { return }
        if unknownCount > 0 { repetitions += 1 }
        if result.ending != .answered { unknownCount += 1 }
    }

    // MARK: - After a request

    mutating func next(
        after reply: Reply, isSpeaking: Bool, at now: Moment
    ) -> ExchangeStep {
        if reply.result.ending == .answered, let status = reply.result.status,
            current.pendingStatuses.contains(status)
        {
            return again(after: Reply(result: reply.result), at: now)
        }
        noteDeed(reply.result)
        var plain = reply
        // Whether the answer is a transcript is asked when it is to be one.
        plain.failure = nil
        switch engine.next(after: plain, isSpeaking: isSpeaking, at: now) {
        case .request(let pause):
            return .request(after: pause)
        case .failed(.refused(let status, let message, .elsewhere(let place)))
        where !carriesRecording:
            // The recording does not belong where a question is sent to.
            let words = "\(current.name) is led to \(place)"
            forget()
            return .failed(
                .refused(
                    status: status, message: message.map { "\($0); \(words)" } ?? words,
                    advice: nil))
        case .failed(let failure):
            // The same job would fail again; the next run begins with the recording.
            if failure.isForGood { forget() }
            return .failed(failure)
        case .answeredInPart: hasAnsweredInPart = true
        case .answered, .idle: break
        }
        switch reply.verdict {
        case .next(let captured): return advance(with: captured)
        case .again(let state): return again(after: reply, in: state, at: now)
        case .answer:
            if let failure = reply.failure {
                // The job has ended, and would answer the same again.
                forget()
                return .failed(.answerUnusable(failure))
            }
            return hasAnsweredInPart ? .answeredInPart : .answered
        case .failed(let message):
            forget()
            return .failed(
                .answerUnusable(
                    .serviceReported(message: delivery.service.redacted(message))))
        case .unusable(let error):
            forget()
            return .failed(.answerUnusable(delivery.service.redacted(error)))
        case nil:
            return .failed(.responseUnusable(reason: "the answer to a step did not come whole"))
        }
    }

    private mutating func advance(with captured: [String: String]) -> ExchangeStep {
        let number = engine.request.number + 1
        takenBefore = recordingCount
        unknownCount = 0
        values.merge(captured) { _, new in new }
        index += 1
        (pollCount, oddCount, waitingSince) = (0, 0, nil)
        if let failure = prepare(number: number) {
            forget()
            return .failed(failure)
        }
        let pause = current.pause(before: 0)
        return .request(after: Pause(duration: pause, atLeast: pause, isOfNextStep: true))
    }

    private mutating func again(
        after reply: Reply, in state: String? = nil, at now: Moment
    ) -> ExchangeStep {
        oddCount = reply.failure == nil ? 0 : oddCount + 1
        // The job goes on, and the next run asks for it.
        if let failure = reply.failure, oddCount > Self.oddLimit {
            return .failed(delivery.unproved("\(failure)"))
        }
        let since = waitingSince ?? now.elapsed
        waitingSince = since
        pollCount += 1
        let pause = max(current.pause(before: pollCount), reply.result.pauseAsked)
        guard now.elapsed - since + pause <= plan.limit else {
            return .failed(.unfinished(after: now.elapsed - since))
        }
        // The same question has the same number: it is not another attempt.
        if let failure = prepare(number: engine.request.number) { return .failed(failure) }
        var next = Pause(duration: pause, atLeast: pause, isOfNextStep: true)
        strangeCount += state == nil ? 0 : 1
        if let state, strangeCount == Self.strangeLimit {
            next.notice =
                "the service says '\(delivery.service.redacted(state))' of its job, which its "
                + "profile does not know; it is asked for up to \(plan.limit.components.seconds) s"
        }
        return .request(after: next)
    }

    private mutating func forget() { (index, values, unknownCount) = (0, [:], 0) }
}

extension DeliveryPlan {
    /// The failure of a delivery of which no answer shows that the service has the recording.
    func unproved(_ reason: String) -> TakeFailure {
        .notDelivered(.unproved(reason), host: service.url.origin.description)
    }

    /// Whether an origin may have the recording and the secrets of the service.
    func trusts(_ origin: Origin) -> Bool {
        origin == service.url.origin || redirectOrigins.contains(origin)
    }

    /// Tells a delivery of several requests from those of other bodies or to other places.
    func fingerprint(with others: [String]) -> String {
        let words = service.words.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let texts = [service.url.text, format.name, idSuffix + bodyMark] + words + others
        return String(FNV.hash(texts.joined(separator: "\n").utf8), radix: 16)
    }
}
