// SPDX-License-Identifier: Apache-2.0

public import AudioCodecs
public import SpeechService
public import TextRules
public import Upload

/// Where a take goes, and how long that may take.
public struct DeliveryPlan: Sendable {
    /// Where it goes, and how the answer is read.
    public var service: RecognitionService {
        get { serviceBox }
        set { serviceBox = newValue }
    }
    @Boxed private var serviceBox: RecognitionService
    /// How the audio travels.
    public var format: AudioCodec
    /// How long each part of a transfer may take.
    public var deadlines: TransferDeadlines
    /// Origins beside the service's own to which a 307 or 308 may lead; the token and the audio go
    /// there.
    public var redirectOrigins: [Origin]
    /// How the service learns where the body ends.
    public var framing = BodyFraming.auto
    /// Whether secrets may travel without TLS to another machine.
    public var allowsSecretsInClear = false

    /// The profile that the service was made by, and what was said with it; nil for a URL alone.
    package var profile: ProfileUse? {
        service.use.flatMap { $0.profile.isPlain && $0.profile.texts.count == 1 ? nil : $0 }
    }
    /// The service in a word: the name of its profile, or else its host.
    package var serviceName: String {
        profile.flatMap { $0.profile.isPlain ? nil : $0.profile.name } ?? service.url.origin.name
    }
    /// Whether no person has chosen a service: the take goes where one is looked for then.
    package var isUnset = false

    /// When it is sent again.
    public var retry: RetryPolicy
    /// How fast what was recorded before is sent, or nil for as fast as the line.
    public var catchUpRate: CatchUpRate?
    /// The name of the field that carries the take's id, the same for all attempts.
    public var idHeader = "Idempotency-Key"

    /// The text behind the take's id in that field, when the request is another than the one
    /// that the id stood for before.
    var idSuffix = ""
    /// Distinguishes bodies under one id that differ though each is made of the same recording: a
    /// digest, or what of the audio is lost; empty for a recording as it was made.
    var bodyMark = ""
    /// Whether no other take goes to its URL, as in an archive.
    var hasOwnName = false
    /// Whether an answer to less of the audio than was answered before takes the place of that one.
    package var replacesWhole = false
    /// Whether requests have a `traceparent`.
    var isTraced = false
    /// Observes each request and its answer; nil observes none.
    package var observing: TransferObserving?

    /// The rules that the text goes through before it goes anywhere.
    public var rules = TextRules()
    /// The command that reads the text then; nil for none.
    public var filter: TextFilter?

    /// Whether `TakeEvent.progress` is told: where it is not shown, the caller is not woken for it.
    public var reportsProgress = true

    /// Creates a plan; what is not given is the default that suits a person speaking.
    public init(
        service: RecognitionService, format: AudioCodec = .pcm,
        deadlines: TransferDeadlines = TransferDeadlines(), redirectOrigins: [Origin] = [],
        retry: RetryPolicy = .standard
    ) {
        serviceBox = service
        self.format = format
        self.deadlines = deadlines
        self.redirectOrigins = redirectOrigins
        self.retry = retry
    }
}
