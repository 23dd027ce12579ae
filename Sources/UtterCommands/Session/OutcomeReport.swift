// SPDX-License-Identifier: Apache-2.0

package import Utter

/// The object that `--json` prints: of a take, or of a failure before there was one.
///
/// Every member is always there, null when there is nothing to say. Frames are of 16 kHz mono;
/// times are milliseconds. Members may be added, none will change.
struct OutcomeReport: Encodable {
    struct Word: Encodable {
        var word: String
        @Nullable var start: Double?
        @Nullable var end: Double?
        @Nullable var probability: Double?
        @Nullable var speaker: String?
    }

    struct Segment: Encodable {
        var text: String
        @Nullable var start: Double?
        @Nullable var end: Double?
        @Nullable var speaker: String?
    }

    struct Frames: Encodable {
        var captured, gaps, encoded: Int
    }

    struct Bytes: Encodable {
        var encoded, journaled, bodyOffset, sent, wire: Int
    }

    struct Times: Encodable {
        @Nullable var firstFrameMs: Double?
        @Nullable var stoppedMs: Double?
        @Nullable var capturedMs: Double?
        @Nullable var sealedMs: Double?
        @Nullable var settledMs: Double?
    }

    struct Device: Encodable {
        @Nullable var card: String?
        var sampleFormat: String
        var sampleRate, channels, periodFrames, bufferFrames: Int
        var periodMs, bufferMs: Double
    }

    struct GapReport: Encodable {
        var cause: String
        var start, frames: Int
    }

    struct Failure: Encodable {
        var message: String
        @Nullable var hint: String?
    }

    var version = 1
    @Nullable var id: String? = nil
    /// The file that was sent, as the person named it; - is standard input.
    @Nullable var file: String? = nil
    var exit: Int32
    @Nullable var text: String? = nil
    @Nullable var words: [Word]? = nil
    /// Sentences, or what one speaker says, when the service tells them.
    @Nullable var segments: [Segment]? = nil
    /// How sure the service is of the text, from 0 to 1.
    @Nullable var confidence: Double? = nil
    /// The language that it heard, as it names it.
    @Nullable var language: String? = nil
    /// How much it says that it heard.
    @Nullable var heardMs: Double? = nil
    @Nullable var error: Failure? = nil
    var durationMs = 0.0
    var frames = Frames(captured: 0, gaps: 0, encoded: 0)
    var gaps: [GapReport] = []
    var bytes = Bytes(encoded: 0, journaled: 0, bodyOffset: 0, sent: 0, wire: 0)
    @Nullable var sha256: String? = nil
    var attempts: [TakeAttempt] = []
    var redirects = 0
    var retries = 0
    /// When its parts happened, since the key or the command.
    @Nullable var times: Times? = nil
    var mayBeDoubled = false
    @Nullable var answerDelayMs: Double? = nil
    /// How much of the recording the service had when it answered, if that was not all.
    @Nullable var answeredAfterMs: Double? = nil
    @Nullable var peakDecibels: Double? = nil
    /// Whether a voice was heard, when a microphone was listened to.
    @Nullable var voiceHeard: Bool? = nil
    /// What was agreed on with the microphone.
    @Nullable var device: Device? = nil
    /// What differs between two stages of the take; an error inside utter.
    @Nullable var imbalance: String? = nil
    @Nullable var kept: String? = nil
    @Nullable var unprotected: String? = nil
    @Nullable var cutShort: String? = nil
    var notices: [String] = []

    /// Reports why there is no take.
    init(_ failure: CommandFailure, of file: String?) {
        self.file = file
        exit = failure.status.rawValue
        error = Failure(message: failure.message, hint: failure.hint)
    }

    /// Reports a take, of a file or a microphone; its audio stays on the disk if `isKept`.
    init(_ outcome: TakeOutcome, of file: String? = nil, status: ExitStatus, isKept: Bool) {
        let account = outcome.account
        id = outcome.id.text
        self.file = file
        exit = status.rawValue
        switch outcome.result {
        case .success(let transcript):
            text = TerminalText.sanitized(transcript.text)
            words = transcript.words.map {
                Word(
                    word: TerminalText.sanitized($0.text), start: $0.start, end: $0.end,
                    probability: $0.probability,
                    speaker: $0.speaker)
            }
            segments = transcript.segments.map {
                Segment(
                    text: TerminalText.sanitized($0.text), start: $0.start, end: $0.end,
                    speaker: $0.speaker)
            }
            confidence = transcript.confidence
            language = transcript.language
            heardMs = transcript.duration.map { $0 * 1000 }
        case .failure(let failure):
            error = Failure(message: failure.description, hint: Hints.of(failure))
        }
        durationMs = Double(account.encodedFrames) / 16
        frames = Frames(
            captured: account.capturedFrames, gaps: account.gapFrames,
            encoded: account.encodedFrames)
        gaps = outcome.capture.gaps.map {
            GapReport(cause: $0.cause.rawValue, start: $0.start, frames: $0.frames)
        }
        bytes = Bytes(
            encoded: account.encodedBytes, journaled: account.journaledBytes,
            bodyOffset: account.bodyOffset, sent: account.sentBytes,
            wire: account.wireBytes)
        sha256 = account.sha256
        attempts = outcome.attempts
        (redirects, retries) = (outcome.redirectCount, outcome.retryCount)
        let times = outcome.times
        self.times = Times(
            firstFrameMs: times.firstFrame?.milliseconds, stoppedMs: times.stopped?.milliseconds,
            capturedMs: times.captured?.milliseconds, sealedMs: times.sealed?.milliseconds,
            settledMs: times.settled?.milliseconds)
        mayBeDoubled = outcome.mayBeDoubled
        answerDelayMs = outcome.answerDelay?.milliseconds
        answeredAfterMs = outcome.answeredAfter?.milliseconds
        peakDecibels = outcome.peakDecibels.map { (Double($0) * 10).rounded() / 10 }
        voiceHeard = outcome.capture.hasVoice
        device = outcome.capture.details.map { details in
            Device(
                card: details.card, sampleFormat: details.sampleFormat,
                sampleRate: details.format.sampleRate, channels: details.format.channelCount,
                periodFrames: details.periodFrames, bufferFrames: details.bufferFrames,
                periodMs: details.format.duration(ofFrames: details.periodFrames).milliseconds,
                bufferMs: details.format.duration(ofFrames: details.bufferFrames).milliseconds)
        }
        imbalance = outcome.imbalance
        kept = isKept ? outcome.audioPath : nil
        unprotected = outcome.unprotected
        cutShort = outcome.cutShort
        notices = outcome.notices.map(\.text) + outcome.capture.faults.map(\.text)
    }

    var json: String {
        JSONOutput.text(self)
    }
}

extension Duration {
    /// This duration in milliseconds, to the microsecond.
    var milliseconds: Double {
        let parts = components
        let microseconds = parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000
        return Double(microseconds) / 1_000
    }
}

extension TakeAttempt: Encodable {
    private enum Key: String, CodingKey {
        case number, url, httpVersion, ending, reason, status, sentBytes, wireBytes, bodyComplete
        case framedBytes, receivedBytes, reused, proxy, tls, cipher, local, remote
        case resolvedMs, connectedMs, securedMs, headOutMs, firstByteOutMs, lastByteOutMs
        case firstByteInMs, firstBodyByteInMs, firstTextMs, lastByteInMs, endMs
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        let (timings, route) = (result.timings, result.route)
        try object.encode(number, forKey: .number)
        try object.encode(url, forKey: .url)
        try object.encode(timings.httpVersion, forKey: .httpVersion)
        try object.encode(result.ending.word, forKey: .ending)
        try object.encode(result.ending.reason, forKey: .reason)
        try object.encode(result.status, forKey: .status)
        try object.encode(result.sentByteCount, forKey: .sentBytes)
        try object.encode(result.wireByteCount, forKey: .wireBytes)
        try object.encode(result.framedByteCount, forKey: .framedBytes)
        try object.encode(result.receivedByteCount, forKey: .receivedBytes)
        try object.encode(result.isBodyComplete, forKey: .bodyComplete)
        try object.encode(result.hasReusedConnection, forKey: .reused)
        try object.encode(route.isByProxy, forKey: .proxy)
        try object.encode(route.tls, forKey: .tls)
        try object.encode(route.cipher, forKey: .cipher)
        try object.encode(route.local, forKey: .local)
        try object.encode(route.remote, forKey: .remote)
        let instants: [(Key, Duration?)] = [
            (.resolvedMs, timings.resolved), (.connectedMs, timings.connected),
            (.securedMs, timings.secured), (.headOutMs, timings.headOut),
            (.firstByteOutMs, timings.firstByteOut), (.lastByteOutMs, timings.lastByteOut),
            (.firstByteInMs, timings.firstByteIn),
            (.firstBodyByteInMs, timings.firstBodyByteIn), (.firstTextMs, timings.firstText),
            (.lastByteInMs, timings.lastByteIn), (.endMs, timings.end),
        ]
        for (key, instant) in instants { try object.encode(instant?.milliseconds, forKey: key) }
    }
}
