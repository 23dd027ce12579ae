// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import TakeStore
internal import Upload

/// An upload that goes on where it was after its connection broke, and whose answer is the
/// transcript.
///
/// The service makes the upload, and says at which URL: in an interim answer to the recording itself
/// (the IETF draft), or to a request of its own (tus). From then on a break costs a question, how many
/// bytes the service has, and the recording goes on from there. `progress` holds the URL, so that
/// another process goes on with the same upload. Without a URL, each attempt begins at byte 0.
struct UploadExchange: Exchange {
    private struct Resource {
        var url: ServiceURL
        /// Bytes of the whole body that the service is known to have.
        var offset = 0
        var knowsLength = false
        /// It has said so: an append is a question for the text.
        var hasAll = false
    }

    private typealias Step = UploadRequest.Step

    /// New uploads in a row that may be begun because the service forgets them.
    private static let renewalLimit = 3
    /// Answers in a row after which nothing has moved.
    private static let standstillLimit = 8
    private static let longestLock = Duration.seconds(60)
    /// In bytes: a service that does not take so much in one request takes no recording.
    private static let leastLimit = 256 << 10
    /// In bytes, of a request of which nothing is known when it is refused as too long, and the most
    /// of one whose checksum is said.
    private static let usualByteCount = 64 << 20

    private let kind: UploadProtocol
    private let delivery: DeliveryPlan
    private let fingerprint: String
    private var engine: PostOnce
    private var recording = RecordingExtent()
    private var step = Step.create
    private var upload: Resource?
    /// The most bytes of the whole body that any request has sent, as far as this run knows.
    private var sent = 0
    /// A run that was killed may have sent more.
    private var hasEarlierRun = false
    /// The upload's recording was complete before its first byte, which may say so.
    private var isOfWhole = false
    /// The service takes no longer requests, in bytes, or something in between does not.
    private var limit: Int?
    /// The most bytes of an upload.
    private var largest: Int?
    /// Whether the service offers checksums; nil before it has said so.
    private var offersChecksum: Bool?
    /// The upload is made by a request without content.
    private var isCareful: Bool
    private var standstills = 0
    private var renewals = 0
    /// Uploads that the service may have taken whole, without this one.
    private var takenBefore: Int
    private var mayBeTaken = false

    init(
        _ kind: UploadProtocol, _ delivery: DeliveryPlan, from progress: ExchangeProgress? = nil,
        wantsLength: Bool = false, attemptsBefore: Int = 0, takenBefore: Int = 0
    ) {
        self.kind = kind
        self.delivery = delivery
        self.takenBefore = takenBefore
        if case .upload(_, let largest) = delivery.service.exchange { limit = largest }
        isCareful = kind == .tus || limit != nil
        var resuming = delivery
        if delivery.retry.pausesWhileSpeaking == RetryPolicy.standard.pausesWhileSpeaking {
            resuming.retry.pausesWhileSpeaking = RetryPolicy.pausesWhileResuming
        }
        engine = PostOnce(resuming, wantsLength: wantsLength, attemptsBefore: attemptsBefore)
        fingerprint = delivery.fingerprint(with: [kind.rawValue, "\(delivery.service.body)"])
        guard let progress, progress.plan == fingerprint, let text = progress.values["upload"],
            // A text that does not parse leads nowhere.
            let url = try? ServiceURL(text), delivery.trusts(url.origin)
        else { return }
        upload = Resource(url: url)
        isOfWhole = progress.values["whole"] != nil
        mayBeTaken = progress.unknown != nil
        sent = progress.values["sent"].flatMap { Int($0) } ?? 0
        hasEarlierRun = true
        self.takenBefore = max(0, takenBefore - (mayBeTaken ? 1 : 0))
        go(to: .ask)
    }

    // MARK: - The request

    var request: ExchangeRequest {
        var request = engine.request
        let isEmpty = step == .create && isCareful
        var use = UploadRequest(
            kind: kind, step: isEmpty ? .createEmpty : step, start: upload?.offset ?? 0,
            limit: limit)
        use.isOfWhole = isOfWhole
        use.saysChecksum = offersChecksum == true && step == .append && recording.isComplete
        use.shownURL = delivery.service.url
        use.saysLength = upload?.knowsLength == false
        let isQuestion = step == .ask || step == .discover
        let content = isEmpty || isQuestion ? StepRequest.Content() : nil
        let method: StepMethod =
            switch step {
            case .create, .createEmpty: request.method == .put ? .put : .post
            case .discover: .options
            case .ask: .head
            case .append: .patch
            }
        request.step = StepRequest(
            method: method, content: content, carriesSecrets: true, use: .upload(use))
        // tus is told the length with the last bytes, and no bytes follow it; or as the upload is made.
        let awaitsLength = kind == .tus && isLengthAwaited
        let makesUpload = kind == .tus && step == .create
        request.saysLength =
            (content == nil || makesUpload) && (request.saysLength || awaitsLength)
        return request
    }

    /// The service has all that there was when the last request ended, and waits for the length.
    private var isLengthAwaited: Bool {
        guard step == .append, let upload, !upload.knowsLength else { return false }
        return mayBeTaken && upload.offset == sent
    }

    mutating func begin(isComplete: Bool) -> ExchangeRequest {
        _ = engine.begin(isComplete: isComplete)
        if upload == nil { isOfWhole = isComplete }
        return request
    }

    mutating func begin(lane: Int, of recording: RecordingExtent) -> Beginning {
        self.recording = recording
        var request = begin(isComplete: recording.isComplete)
        // A live recording does not wait for it, and says no checksum before its end.
        if kind == .tus, step == .create, offersChecksum == nil, engine.request.saysLength {
            step = .discover
            request = self.request
        }
        if recording.isComplete { return .request(request) }
        if request.saysLength { return .sealed }
        // A request without bytes that does not say the end moves nothing.
        return isLengthAwaited && recording.byteCount <= sent
            ? .growth(to: sent + 1) : .request(request)
    }

    mutating func renew() { engine.renew() }

    private mutating func go(to next: Step) {
        step = next
        engine.lead(to: next == .create ? delivery.service.url : upload?.url)
        // The service can be asked about a request.
        engine.knowsOutcome = upload != nil
    }

    // MARK: - What is known

    var takenCount: Int { takenBefore + (mayBeTaken ? 1 : 0) }

    var traits: ServiceTraits { ServiceTraits(wantsLength: engine.needsLength) }

    var sendsDigest: Bool { false }

    var progress: ExchangeProgress? {
        guard let upload else { return nil }
        var values = ["upload": upload.url.text, "sent": "\(sent)"]
        if isOfWhole { values["whole"] = "yes" }
        return ExchangeProgress(
            step: "upload", values: values, plan: fingerprint, unknown: mayBeTaken ? 1 : nil)
    }

    mutating func record(_ result: TransferResult) {
        guard request.carriesRecording else { return }
        engine.record(result)
        sent = max(sent, result.bodyStart + result.wireByteCount)
        if result.mayBeTaken, !isFull(result) { mayBeTaken = true }
    }

    /// It had as much as a request may have, so that there may be more.
    private func isFull(_ result: TransferResult) -> Bool { result.wireByteCount == limit }

    /// Hears where the service has made the upload (104).
    mutating func learn(from interim: AnswerHead) {
        guard step == .create, kind == .resumable, UploadAnswer.isOurs(interim) else { return }
        adopt(interim)
    }

    private mutating func adopt(_ head: AnswerHead) {
        learnLimit(head)
        guard upload == nil, let location = head.header("location"),
            // A text that does not parse leads nowhere.
            let url = try? engine.request.url.resolving(location: location),
            delivery.trusts(url.origin)
        else { return }
        upload = Resource(url: url)
        engine.knowsOutcome = true
    }

    private mutating func learnLimit(_ head: AnswerHead) {
        offersChecksum =
            kind == .tus && (offersChecksum == true || UploadAnswer.offersChecksum(head))
        largest = UploadAnswer.largest(in: head) ?? largest
        let most = offersChecksum == true ? Self.usualByteCount : nil
        limit = [limit, most, UploadAnswer.limit(in: head)].compactMap(\.self).min()
    }

    /// Sends less in a request from now on, after one that was too long; false when that was little.
    private mutating func shrink(from before: Int?, after result: TransferResult) -> Bool {
        // The answer says the limit, and may come when hardly anything has been recorded.
        if let limit, limit < before ?? .max { return true }
        let count = max(result.wireByteCount, recording.byteCount - (upload?.offset ?? 0))
        let tried = min(limit ?? .max, count > 0 ? count : Self.usualByteCount)
        limit = max(Self.leastLimit, tried / 2)
        return tried > Self.leastLimit
    }

    private var isStore: Bool { delivery.service.answer.empty == .stored }

    // MARK: - After a request

    mutating func next(
        after reply: Reply, isSpeaking: Bool, at now: Moment
    ) -> ExchangeStep {
        record(reply.result)
        if step == .discover, reply.result.ending != .cancelled {
            learnLimit(AnswerHead(headers: reply.result.headers))
            return again(.create)
        }
        guard reply.result.ending == .answered, let status = reply.result.status else {
            return judge(reply, isSpeaking: isSpeaking, at: now)
        }
        func lost(_ reason: String) -> ExchangeStep {
            judge(reply.unproved(reason), isSpeaking: isSpeaking, at: now)
        }
        let head = AnswerHead(headers: reply.result.headers)
        if (200..<300).contains(status), upload != nil || isStore, isOfStranger(head, reply) {
            return lost("a web page came in place of an answer")
        }
        let before = limit
        learnLimit(head)
        if let largest, recording.isComplete, recording.byteCount > largest {
            let words =
                "an upload has at most \(largest) bytes, and this is \(recording.byteCount)"
            return .failed(.refused(status: 413, message: words))
        }
        switch (step, status) {
        case (_, 200..<300) where UploadAnswer.isComplete(head) && reply.result.isEarlyAnswer:
            upload = nil
            return reply.failure.map { .failed(.answerUnusable($0)) } ?? .answeredInPart
        case (.create, 200..<300) where isCareful || UploadAnswer.isIncomplete(head):
            adopt(head)
            guard upload != nil else {
                return .failed(.responseUnusable(reason: "it names no upload at this service"))
            }
            return goOn(from: UploadAnswer.offset(in: head) ?? (isCareful ? 0 : nil))
        case (.ask, 200..<300):
            guard let offset = UploadAnswer.offset(in: head) else {
                return lost("the answer does not say how much the service has")
            }
            let length = UploadAnswer.length(in: head)
            upload?.knowsLength = length != nil
            upload?.hasAll =
                (length == offset || UploadAnswer.isComplete(head)) && offset >= recording.byteCount
            return goOn(from: offset)
        // It has no text to answer with; some refuse to append to an upload that is complete.
        case (.append, 400...404) where isStore && hasAll && status != 401 && status != 402:
            upload = nil
            return .answered
        case (.append, 200..<300) where isUnfinished(head, reply.result):
            return goOn(from: UploadAnswer.offset(in: head))
        case (_, 200..<300) where upload != nil && !isProof(head, reply):
            return stand() ?? lost("its answers prove nothing")
        // It takes no chunks, or makes no upload without a length.
        case (_, 400) where kind == .tus && step != .ask && !engine.request.saysLength:
            engine.sayLength()
            return again(upload == nil ? .create : .ask)
        case (.append, 409), (.append, 422), (.append, 460):
            if let step = stand() { return step }
        case (.ask, 423), (.append, 423):
            let failure = TakeFailure.unavailable(
                status: status, message: "the upload stays locked")
            return stand(after: lockPause) ?? .failed(failure)
        case (_, 413) where !(isCareful && step == .create):
            guard shrink(from: before, after: reply.result) else { break }
            isCareful = isCareful || upload == nil
            return again(upload == nil ? .create : .ask)
        case (.ask, 400..<405), (.ask, 410), (.append, 400..<405), (.append, 410):
            guard status != 401, !UploadAnswer.isComplete(head) else { break }
            if step == .ask, renewals < Self.renewalLimit { return forget() }
            // It may still take in what a request has sent that broke; what it has decides.
            if step == .append, let step = stand(after: lockPause) { return step }
        default: break
        }
        return judge(reply, isSpeaking: isSpeaking, at: now)
    }

    /// Judges a reply as one to a recording, and asks after a break.
    private mutating func judge(
        _ reply: Reply, isSpeaking: Bool, at now: Moment
    ) -> ExchangeStep {
        let next = engine.next(after: reply, isSpeaking: isSpeaking, at: now)
        if step != .create, [307, 308].contains(reply.result.status) {
            upload?.url = engine.request.url
        }
        if case .request = next, upload != nil { go(to: .ask) }
        if case .answered = next { upload = nil }
        return next
    }

    /// Whether the answer to an append is the upload's and not the recording's.
    private func isUnfinished(_ head: AnswerHead, _ result: TransferResult) -> Bool {
        guard result.isBodyComplete else { return true }
        if isFull(result), result.receivedByteCount == 0 { return true }
        if saysLess(head, result) { return true }
        switch kind {
        case .resumable: return UploadAnswer.isIncomplete(head)
        case .tus: return !(upload?.knowsLength ?? false || engine.request.isComplete)
        }
    }

    /// Whether an answer says that the service has less than it was sent.
    private func saysLess(_ head: AnswerHead, _ result: TransferResult) -> Bool {
        let end = result.bodyStart + result.wireByteCount
        return UploadAnswer.offset(in: head).map { $0 < end } ?? false
    }

    /// Whether something in between has answered, such as the login page of a network.
    private func isOfStranger(_ head: AnswerHead, _ reply: Reply) -> Bool {
        if case .webPage? = reply.failure { return true }
        let isRead =
            request.carriesRecording && reply.failure == nil && reply.result.receivedByteCount > 0
        return head.isWebPage && !isRead
    }

    private var hasAll: Bool { upload?.hasAll ?? false }

    /// Whether a good answer shows that the service has all: by its words, or as the protocol says it.
    private func isProof(_ head: AnswerHead, _ reply: Reply) -> Bool {
        let result = reply.result
        return hasAll || result.receivedByteCount > 0
            || UploadAnswer.isComplete(head) && !saysLess(head, result)
            || UploadAnswer.offset(in: head) == result.bodyStart + result.wireByteCount
    }

    private mutating func goOn(from offset: Int?) -> ExchangeStep {
        // With these requests the length is said as soon as it is known.
        if kind == .tus, step != .ask, engine.request.isComplete { upload?.knowsLength = true }
        guard let offset else { return again(.ask) }
        let before = upload?.offset ?? 0
        // An offset never falls (§ Offset), and none has what was not sent.
        guard offset >= before, offset <= sent || hasEarlierRun else { return forget() }
        if offset > before { (standstills, renewals) = (0, 0) }
        // A link that lets a second of sound through between two breaks is not dead.
        if offset - before >= delivery.format.nominalByteRate { engine.noteProgress() }
        if offset == before, step == .append { standstills += 1 }
        guard standstills <= Self.standstillLimit else {
            return .failed(.responseUnusable(reason: "it stopped taking the recording"))
        }
        upload?.offset = offset
        return again(.append)
    }

    private mutating func again(_ next: Step, after pause: Duration = .zero) -> ExchangeStep {
        engine.renew()
        go(to: next)
        return .request(after: Pause(duration: pause, atLeast: pause, isOfNextStep: true))
    }

    /// Asks once more after an answer that moves nothing; nil when that has no end.
    private mutating func stand(after pause: Duration = .zero) -> ExchangeStep? {
        standstills += 1
        return standstills > Self.standstillLimit ? nil : again(.ask, after: pause)
    }

    private var lockPause: Duration {
        min(.seconds(1 << min(standstills, 6)), Self.longestLock)
    }

    /// Begins a new upload: the service has lost this one.
    private mutating func forget() -> ExchangeStep {
        if mayBeTaken, delivery.retry.unknownOutcome != .resend {
            return .failed(delivery.unproved("the service has forgotten the upload"))
        }
        renewals += 1
        takenBefore = takenCount
        (upload, mayBeTaken, sent, hasEarlierRun) = (nil, false, 0, false)
        return again(.create)
    }
}
