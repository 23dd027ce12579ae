// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import TakeStore
internal import Upload

/// Decides which requests deliver a take: the next request, a wait, or the outcome.
///
/// Pure: it is told how each request has ended, and says what follows. Nothing else knows how many
/// requests make a delivery. `StretchExchange` makes one, or one for each stretch, `JobExchange` the
/// steps of a job,
/// `UploadExchange` goes on where a broken request was, `PartsExchange` sends several at once,
/// `TokenFirst` fetches a token before each of them. Requests that are under way side by side have a
/// *lane* each; an exchange that makes one after the other knows of none.
protocol Exchange: Sendable {
    /// The request that is under way, or next.
    var request: ExchangeRequest { get }
    /// Requests that may be under way at once.
    var laneCount: Int { get }
    /// Requests that are under way go on with new secrets.
    var outlivesSecrets: Bool { get }
    /// Its requests hold the whole body, of which the digest is worth knowing.
    var sendsDigest: Bool { get }
    /// Bytes of the recording that the service has for good, of all runs; nil: those that the last
    /// request has sent.
    var storedByteCount: Int? { get }
    /// Requests that the service may have taken whole, over all runs.
    var takenCount: Int { get }
    /// How the service has shown that it takes recordings.
    var traits: ServiceTraits { get }
    /// The notes with which another process goes on; nil when it begins anew.
    var progress: ExchangeProgress? { get }

    /// Begins the request, or returns it again; if it says a length that is not known yet, it waits.
    mutating func begin(isComplete: Bool) -> ExchangeRequest

    mutating func begin(lane: Int, of recording: RecordingExtent) -> Beginning

    func request(of lane: Int) -> ExchangeRequest

    /// Decides what follows a request; if it is another one, `request` is that.
    mutating func next(after reply: Reply, isSpeaking: Bool, at now: Moment) -> ExchangeStep

    mutating func next(
        after reply: Reply, lane: Int, isSpeaking: Bool, at now: Moment
    ) -> ExchangeStep

    /// Repeats the refused request under the next number.
    mutating func renew()

    /// Counts a request that nothing follows; `next` counts all others.
    mutating func record(_ result: TransferResult)

    mutating func record(_ result: TransferResult, lane: Int)

    /// Hears an interim answer to the request that is under way.
    mutating func learn(from interim: AnswerHead)

    /// Each need once.
    mutating func need(of recording: RecordingExtent) -> StretchNeed?

    /// Learns where the stretch that begins at this frame is cut.
    mutating func learn(_ cuts: [StretchCut], of start: Int)

    /// Learns that no sound comes for a while, or that it comes again.
    mutating func rest(_ isResting: Bool)

    /// Whether the recording is complete and all of it answered, without a request that says so.
    var isAnswered: Bool { get }

    /// How far the body of a stretch goes by now.
    func reach(of stretch: StretchRequest) -> StretchReach

    /// Joins the texts of the recording so far, with the words that a lane's request has brought.
    func transcript(with words: Transcript, of lane: Int) -> Transcript
}

/// The next step of a lane.
enum Beginning: Sendable, Equatable {
    case request(ExchangeRequest)
    /// Waits until the recording is complete.
    case sealed
    /// Waits for this many bytes of it.
    case growth(to: Int)
    /// There is nothing to do before another lane has ended.
    case idle
    /// Another lane fetches the token that its request needs.
    case token
}

struct ExchangeRequest: Sendable, Equatable {
    /// From 1, over all runs of the take.
    var number: Int
    var method: RequestMethod
    var url: ServiceURL
    /// Waits for the end of the recording.
    var saysLength: Bool
    var isComplete = false
    /// How far the service's clock is ahead of ours, in seconds.
    var clockOffset = 0.0
    /// It does not begin before this time, since the take began.
    var earliest = Duration.zero
    /// A connection of an earlier take may not carry it.
    var wantsFreshConnection = false
    /// The service has refused to be asked before the body (RFC 9110 §10.1.1).
    var omitsExpectation = false
    /// It is made by HTTP/1.1, where an early answer is read whatever follows it.
    var avoidsHTTP2 = false
    /// The step; nil for the recording and its transcript.
    var step: StepRequest?
    /// The stretch that it carries; nil for the whole recording.
    var stretch: StretchRequest?

    var carriesRecording: Bool { step?.content == nil }
    /// Other requests carry the rest of the recording.
    var isPart: Bool { piece != nil || stretch?.mark.isEmpty == false }
    /// The URL for a person; that of the service, when an upload's own is a secret.
    var shownURL: String { (upload?.shownURL ?? url).description }
    var upload: UploadRequest? { if case .upload(let use)? = step?.use { use } else { nil } }
    /// The part; nil for a request that sends none.
    var piece: PieceRequest? { if case .piece(let use)? = step?.use { use } else { nil } }
    /// The head says the digest of the body, which is a part.
    var wantsDigest: Bool { piece != nil && carriesRecording || upload?.saysChecksum == true }
    /// Not counted as an attempt to deliver the take.
    var isForToken: Bool { if case .token? = step?.use { true } else { false } }
}

struct StepRequest: Sendable, Equatable {
    enum Use: Sendable, Equatable {
        case job(JobStep, isLast: Bool)
        case token(TokenExchange)
        case upload(UploadRequest)
        case piece(PieceRequest)
    }

    var method: StepMethod
    /// Beside those that every request has.
    var headers: [HeaderField] = []
    /// The content; nil: the recording.
    var content: Content?
    /// The service's secrets go with the request.
    var carriesSecrets = false
    var use: Use

    struct Content: Sendable, Equatable {
        /// Empty for no body.
        var bytes: [UInt8] = []
        var mediaType: String?

        /// A JSON document; nil for no body.
        init(_ document: [UInt8]? = nil) {
            bytes = document ?? []
            mediaType = document == nil ? nil : "application/json"
        }

        /// A text in a form that its step's fields name.
        init(text: String) { bytes = Array(text.utf8) }
    }
}

enum ExchangeStep: Sendable, Equatable {
    case answered
    /// Only of a part of the recording; another try would be no better.
    case answeredInPart
    case request(after: Pause)
    /// Another lane's end decides what follows.
    case idle
    case failed(TakeFailure)
}

struct Pause: Sendable, Equatable {
    /// Unless the speaker ends before.
    var duration = Duration.zero
    /// The pause that the service has asked for, whatever the speaker does.
    var atLeast = Duration.zero
    /// A speaker who ends before this would wait too long.
    var waitableFrom = Duration.zero
    /// The failure before the pause; nil for a redirect.
    var cause: TakeFailure?
    /// The recording still went on: the pause ends with it.
    var isForSpeaker = false
    /// The next request says its length: the service takes no chunks.
    var isForLength = false
    /// The next request is another one; this one went well.
    var isOfNextStep = false
    /// Odd about the answer, and told to the person.
    var notice: String?

    /// The rest of a pause of which a part is over.
    func rest(after elapsed: Duration) -> Pause {
        var pause = self
        pause.duration = max(.zero, duration - elapsed)
        pause.atLeast = max(.zero, atLeast - elapsed)
        return pause
    }

    /// The pause before this request: no longer than it must be once the speaker has ended, and long
    /// enough for what is held back.
    func fitted(to request: ExchangeRequest, of recording: RecordingExtent) -> Pause {
        var pause = self
        if recording.isComplete, isForSpeaker { pause.duration = atLeast }
        pause.atLeast = max(atLeast, request.earliest - recording.elapsed)
        return pause
    }
}

struct Reply: Sendable {
    var result: TransferResult
    var transcript = Transcript()
    /// The finals that came before the end, whatever the end has made of a partial.
    var finals = Transcript()
    /// Why the body of a good status is unreadable, or nil.
    var failure: AnswerError?
    var message: String?
    /// From a refusal, or from an answer that reports an error.
    var code: String?
    /// The verdict on a step of a job; nil without a good status.
    var verdict: StepVerdict?
    var hasToken = false

    /// The service does not take the time at which the request was signed.
    var isAboutClock: Bool { ["RequestTimeTooSkewed", "RequestExpired"].contains(code) }

    /// An answer that proves nothing is as good as one that was lost on its way.
    func unproved(_ reason: String) -> Reply {
        var reply = self
        (reply.result.ending, reply.result.status) = (.unproved(reason), nil)
        reply.result.hasReusedConnection = false
        return reply
    }
}

/// The circumstances of a decision beside events.
struct Moment: Sendable {
    /// Since the take began, monotonic.
    var elapsed = Duration.zero
    /// From 0 to 1; called when a pause needs it.
    let jitter: @Sendable () -> Double
    /// Seconds since 1970; called when a service says that ours are wrong.
    let clock: @Sendable () -> Double
    /// Says how much has been recorded.
    private let gauge: @Sendable (inout RecordingExtent) -> Void

    init(
        elapsed: Duration = .zero, jitter: @autoclosure @escaping @Sendable () -> Double = 0,
        clock: @autoclosure @escaping @Sendable () -> Double = 0,
        measure: @escaping @Sendable (inout RecordingExtent) -> Void = { _ in }
    ) {
        (self.elapsed, self.jitter, self.clock) = (elapsed, jitter, clock)
        gauge = measure
    }

    func measure(_ extent: inout RecordingExtent) {
        extent.elapsed = elapsed
        gauge(&extent)
    }
}

extension Exchange {
    var progress: ExchangeProgress? { nil }
    var traits: ServiceTraits { ServiceTraits() }
    var laneCount: Int { 1 }
    var outlivesSecrets: Bool { false }
    var sendsDigest: Bool { true }
    var storedByteCount: Int? { nil }

    mutating func begin(lane: Int, of recording: RecordingExtent) -> Beginning {
        let request = begin(isComplete: recording.isComplete)
        return recording.isComplete || !request.saysLength ? .request(request) : .sealed
    }

    func request(of lane: Int) -> ExchangeRequest { request }

    mutating func next(
        after reply: Reply, lane: Int, isSpeaking: Bool, at now: Moment
    ) -> ExchangeStep { next(after: reply, isSpeaking: isSpeaking, at: now) }

    mutating func record(_ result: TransferResult, lane: Int) { record(result) }

    mutating func learn(from interim: AnswerHead) {}
    mutating func need(of recording: RecordingExtent) -> StretchNeed? { nil }
    mutating func learn(_ cuts: [StretchCut], of start: Int) {}
    mutating func rest(_ isResting: Bool) {}
    var isAnswered: Bool { false }
    func reach(of stretch: StretchRequest) -> StretchReach { StretchReach() }
    func transcript(with words: Transcript, of lane: Int) -> Transcript { words }
}

extension TransferResult {
    var hasAccepted: Bool {
        ending == .answered && status.map { StatusVerdict.of(status: $0) == .accepted } ?? false
    }

    /// The service had the whole body, and has not refused it, as far as is known without an answer.
    var mayBeTaken: Bool {
        isBodyComplete && status.map { StatusVerdict.of(status: $0) == .accepted } ?? true
    }
}

extension DeliveryPlan {
    /// Makes what decides which requests deliver a take, before the first of them.
    func makeExchange(
        from progress: ExchangeProgress? = nil, knowing traits: ServiceTraits = ServiceTraits(),
        attemptsBefore: Int = 0, takenBefore: Int = 0, hasToken: Bool = false
    ) -> any Exchange {
        let exchange: any Exchange =
            switch service.exchange {
            case .post:
                StretchExchange(
                    self, from: progress, knowing: traits, attemptsBefore: attemptsBefore,
                    takenBefore: takenBefore)
            case .job(let plan):
                JobExchange(
                    plan, self, from: progress, wantsLength: traits.wantsLength,
                    attemptsBefore: attemptsBefore, takenBefore: takenBefore)
            case .upload(let kind, _):
                UploadExchange(
                    kind, self, from: progress, wantsLength: traits.wantsLength,
                    attemptsBefore: attemptsBefore, takenBefore: takenBefore)
            case .parts(let plan):
                PartsExchange(
                    plan, self, from: progress, attemptsBefore: attemptsBefore,
                    takenBefore: takenBefore)
            }
        guard let (use, request) = service.tokenRequest(uuid: "") else { return exchange }
        return TokenFirst(
            exchange, fetching: use, at: request.url, hasToken: hasToken, policy: retry)
    }
}

extension RecognitionService {
    /// The request for a token; nil when the service needs none, or the secret is missing.
    func tokenRequest(uuid: String) -> (use: TokenExchange, request: TokenRequest)? {
        guard case .token(let use) = authentication.use, let secrets = ClientSecrets(of: self),
            // A request that cannot be made has been refused before the take (`checkSecrets`).
            let request = try? use.request(with: secrets, uuid: uuid)
        else { return nil }
        return (use, request)
    }
}
