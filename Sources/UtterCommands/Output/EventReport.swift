// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// A line of `--events`: what has happened to a take, and when.
///
/// A member that does not belong to an event is not there. Events and members may be added, none
/// will change; `docs/events.schema.json` lists them.
struct EventReport {
    private var object: JSONObject

    /// Makes a line of no take; nil members are left out.
    init(_ object: JSONObject) { self.object = object }

    init(_ outcome: OutcomeReport, at time: Duration = .zero) {
        object = [
            "event": "outcome", "atMs": time.milliseconds, "take": outcome.id,
            "file": outcome.file, "outcome": outcome,
        ]
    }

    init(_ event: TakeEvent, of take: TakeID, _ file: String?, at time: Duration) {
        object = Self.members(of: event)
        (object["take"], object["file"]) = (take.text, file)
        // Since the take was begun.
        object["atMs"] = time.milliseconds
    }

    private static func members(of event: TakeEvent) -> JSONObject {
        switch event {
        case .opening(let source): ["event": "opening", "source": source]
        case .listening(let source, let format):
            [
                "event": "listening", "source": source, "rate": format.sampleRate,
                "channels": format.channelCount,
            ]
        case .began(let delay): ["event": "began", "delayMs": delay.milliseconds]
        case .resumed: ["event": "resumed"]
        case .paused(let place): ["event": "paused", "elapsedMs": place.milliseconds]
        case .sent: ["event": "sent"]
        case .noticed(let notice): ["event": "notice", "message": notice.text]
        case .connected(let attempt): ["event": "connected", "attempt": attempt]
        case .progress(let progress): members(of: progress)
        case .negotiated(let details): ["event": "negotiated", "message": details.text]
        case .signal(let state): ["event": "signal", "message": state.rawValue]
        case .lost(let time): ["event": "lost", "lostMs": time.milliseconds]
        case .quiet: ["event": "quiet"]
        case .heard(let transcript):
            [
                "event": "heard", "text": TerminalText.sanitized(transcript.text),
                "partial": TerminalText.sanitized(transcript.partial),
            ]
        case .captured(let end):
            [
                "event": "captured", "cause": end.cause.word,
                "message": end.cause.reason ?? end.warning,
            ]
        case .refused(let failure): ["event": "refused", "message": failure.description]
        case .interrupted(let failure, let pause):
            [
                "event": "interrupted", "message": failure.description,
                "pauseMs": pause.milliseconds,
            ]
        case .paced(let pause): ["event": "paced", "pauseMs": pause.milliseconds]
        case .answeredEarly(let status, let sentByteCount, let isResent):
            [
                "event": "answered-early", "status": status, "sentBytes": sentByteCount,
                "isResent": isResent,
            ]
        case .resending(let attempt, let url):
            ["event": "resending", "attempt": attempt, "url": url]
        }
    }

    private static func members(of progress: TakeProgress) -> JSONObject {
        let decibels: JSONObject = [
            "peak": tenths(progress.level.peakDecibels), "rms": tenths(progress.level.decibels),
        ]
        return [
            "event": "progress", "elapsedMs": progress.elapsed.milliseconds, "decibels": decibels,
            "journaledBytes": progress.journaledByteCount, "bodyBytes": progress.bodyByteCount,
            "sentBytes": progress.sentByteCount, "isComplete": progress.isComplete,
        ]
    }

    private static func tenths(_ decibels: Float) -> Double {
        (Double(decibels) * 10).rounded() / 10
    }

    var json: String { JSONOutput.text(object.withoutNulls) }
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

    fileprivate var reason: String? {
        if case .source(let error) = self { error.description } else { nil }
    }
}
