// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// One line of `--events`: what has happened to a take, and when.
///
/// A member that does not belong to an event is not there. Events and members may be added, none
/// will change; `docs/events.schema.json` lists them.
struct EventReport: Encodable {
    /// How loud the last period was, in dBFS.
    struct Loudness: Encodable {
        var peak, rms: Double

        init(_ level: Level) {
            (peak, rms) = (Self.rounded(level.peakDecibels), Self.rounded(level.decibels))
        }

        private static func rounded(_ decibels: Float) -> Double {
            (Double(decibels) * 10).rounded() / 10
        }
    }

    var event: String
    /// Milliseconds since the take was begun.
    var atMs: Double
    var take: String?
    var file: String?
    var source: String?
    var rate, channels: Int?
    var message: String?
    var attempt: Int?
    var url: String?
    var elapsedMs: Double?
    var decibels: Loudness?
    var journaledBytes, bodyBytes, sentBytes: Int?
    var isComplete: Bool?
    var text, partial: String?
    var cause: String?
    var status: Int?
    var pauseMs, delayMs, lostMs: Double?
    var isResent: Bool?
    var outcome: OutcomeReport?

    /// How a take ended, or why there is none.
    init(_ outcome: OutcomeReport, at time: Duration = .zero) {
        (event, atMs) = ("outcome", time.milliseconds)
        (take, file, self.outcome) = (outcome.id, outcome.file, outcome)
    }

    /// Something that has happened to a take.
    init(_ event: TakeEvent, of take: TakeID, _ file: String?, at time: Duration) {
        self.event = ""
        (self.take, self.file, atMs) = (take.text, file, time.milliseconds)
        switch event {
        case .opening(let source): (self.event, self.source) = ("opening", source)
        case .listening(let source, let format):
            self.event = "listening"
            (self.source, rate, channels) = (source, format.sampleRate, format.channelCount)
        case .began(let delay): (self.event, delayMs) = ("began", delay.milliseconds)
        case .resumed: self.event = "resumed"
        case .sent: self.event = "sent"
        case .noticed(let notice): (self.event, message) = ("notice", notice.text)
        case .connected(let attempt): (self.event, self.attempt) = ("connected", attempt)
        case .progress(let progress):
            self.event = "progress"
            elapsedMs = progress.elapsed.milliseconds
            decibels = Loudness(progress.level)
            journaledBytes = progress.journaledByteCount
            (bodyBytes, sentBytes) = (progress.bodyByteCount, progress.sentByteCount)
            isComplete = progress.isComplete
        case .negotiated(let details): (self.event, message) = ("negotiated", details.text)
        case .signal(let state): (self.event, message) = ("signal", state.rawValue)
        case .lost(let time): (self.event, lostMs) = ("lost", time.milliseconds)
        case .quiet: self.event = "quiet"
        case .heard(let transcript):
            self.event = "heard"
            text = TerminalText.sanitized(transcript.text)
            partial = TerminalText.sanitized(transcript.partial)
        case .captured(let end):
            self.event = "captured"
            (cause, message) = (end.cause.word, end.warning)
            if case .source(let error) = end.cause { message = error.description }
        case .refused(let failure): (self.event, message) = ("refused", failure.description)
        case .interrupted(let failure, let pause):
            self.event = "interrupted"
            (message, pauseMs) = (failure.description, pause.milliseconds)
        case .answeredEarly(let status, let sentByteCount, let isResent):
            self.event = "answered-early"
            (self.status, sentBytes, self.isResent) = (status, sentByteCount, isResent)
        case .resending(let attempt, let url):
            (self.event, self.attempt, self.url) = ("resending", attempt, url)
        }
    }

    var json: String { JSONOutput.text(self) }
}

extension CaptureEnd.Cause {
    fileprivate var word: String {
        switch self {
        case .finished: "finished"
        case .limitReached: "limit"
        case .cancelled: "cancelled"
        case .tooShort: "too-short"
        case .source: "source"
        case .encoder: "encoder"
        }
    }
}
