// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import Utter

/// The object that `--json` prints: of a take, or of a failure before there was one.
///
/// Every member is always there, null when there is nothing to say. Frames are of 16 kHz mono;
/// times are milliseconds. Members may be added, none will change; `docs/outcome.schema.json` lists
/// them.
struct OutcomeReport: Encodable, Sendable {
    let id: String?
    /// The file that was sent, as the person named it; - is standard input.
    let file: String?
    private var object: JSONObject

    init(_ failure: CommandFailure, of file: String?) {
        (id, self.file) = (nil, file)
        object = Self.empty
        (object["file"], object["exit"]) = (file, failure.status.rawValue)
        object["error"] = Self.failure(failure.message, failure.hint)
    }

    init(_ outcome: TakeOutcome, of file: String? = nil, status: ExitStatus, isKept: Bool) {
        let account = outcome.account
        (id, self.file) = (outcome.id.text, file)
        object = Self.empty
        (object["id"], object["file"]) = (id, file)
        object["exit"] = status.rawValue
        switch outcome.result {
        case .success(let transcript): add(transcript)
        case .failure(let failure):
            object["error"] = Self.failure(failure.description, failure.hint)
        }
        object["durationMs"] = Double(account.encodedFrames) / 16
        object["frames"] = Self.frames(account)
        object["gaps"] = outcome.capture.gaps.map {
            ["cause": $0.cause.rawValue, "start": $0.start, "frames": $0.frames] as JSONObject
        }
        object["pauses"] = outcome.capture.pauses.map { pause -> JSONObject in
            ["start": pause.start, "ms": pause.length?.milliseconds]
        }
        object["bytes"] = Self.bytes(account, resent: outcome.resentByteCount)
        object["sha256"] = account.sha256
        object["attempts"] = outcome.attempts.map(\.object)
        object["stretches"] = outcome.stretches.map(\.object)
        object["redirects"] = outcome.redirectCount
        object["retries"] = outcome.retryCount
        object["times"] = Self.times(outcome.times)
        object["mayBeDoubled"] = outcome.mayBeDoubled
        object["answerDelayMs"] = outcome.answerDelay?.milliseconds
        object["answeredAfterMs"] = outcome.answeredAfter?.milliseconds
        object["peakDecibels"] = outcome.peakDecibels.map { (Double($0) * 10).rounded() / 10 }
        object["voiceHeard"] = outcome.capture.hasVoice
        object["device"] = outcome.capture.details.map(Self.device)
        object["imbalance"] = outcome.imbalance
        object["kept"] = isKept ? outcome.audioPath : nil
        object["unprotected"] = outcome.unprotected
        object["cutShort"] = outcome.cutShort
        object["notices"] =
            outcome.notices.map(\.text) + outcome.capture.faults.map(outcome.capture.text)
    }

    private mutating func add(_ transcript: Transcript) {
        object["text"] = TerminalText.sanitized(transcript.text)
        object["raw"] = transcript.raw.map { TerminalText.sanitized($0) }
        object["words"] = transcript.words.map { word -> JSONObject in
            [
                "word": TerminalText.sanitized(word.text), "start": word.start, "end": word.end,
                "probability": word.probability, "speaker": word.speaker,
            ]
        }
        object["segments"] = transcript.segments.map { segment -> JSONObject in
            [
                "text": TerminalText.sanitized(segment.text), "start": segment.start,
                "end": segment.end, "speaker": segment.speaker,
            ]
        }
        object["confidence"] = transcript.confidence
        object["language"] = transcript.language
        object["heardMs"] = transcript.duration.map { $0 * 1000 }
    }

    private static let empty: JSONObject = {
        var object: JSONObject = [
            "version": 1, "durationMs": 0.0, "frames": frames(nil), "gaps": [JSONObject](),
            "pauses": [JSONObject](),
            "bytes": bytes(nil), "attempts": [JSONObject](), "stretches": [JSONObject](),
            "redirects": 0, "retries": 0,
            "mayBeDoubled": false, "notices": [String](),
        ]
        let nulls = [
            "id", "file", "text", "raw", "words", "segments", "confidence", "language", "heardMs",
            "error", "sha256", "times", "answerDelayMs", "answeredAfterMs", "peakDecibels",
            "voiceHeard", "device", "imbalance", "kept", "unprotected", "cutShort",
        ]
        for name in nulls { object[name] = nil }
        return object
    }()

    private static func failure(_ message: String, _ hint: String?) -> JSONObject {
        ["message": message, "hint": hint]
    }

    private static func frames(_ account: TakeAccount?) -> JSONObject {
        [
            "captured": account?.capturedFrames ?? 0, "gaps": account?.gapFrames ?? 0,
            "encoded": account?.encodedFrames ?? 0,
        ]
    }

    private static func bytes(_ account: TakeAccount?, resent: Int = 0) -> JSONObject {
        [
            "encoded": account?.encodedBytes ?? 0, "journaled": account?.journaledBytes ?? 0,
            "bodyOffset": account?.bodyOffset ?? 0, "sent": account?.sentBytes ?? 0,
            "wire": account?.wireBytes ?? 0, "resent": resent,
        ]
    }

    private static func times(_ times: TakeTimes) -> JSONObject {
        [
            "firstFrameMs": times.firstFrame?.milliseconds,
            "stoppedMs": times.stopped?.milliseconds, "capturedMs": times.captured?.milliseconds,
            "sealedMs": times.sealed?.milliseconds, "settledMs": times.settled?.milliseconds,
        ]
    }

    private static func device(_ details: SourceDetails) -> JSONObject {
        let format = details.format
        return [
            "card": details.card, "sampleFormat": details.sampleFormat,
            "sampleRate": format.sampleRate, "channels": format.channelCount,
            "periodFrames": details.periodFrames, "bufferFrames": details.bufferFrames,
            "periodMs": format.duration(ofFrames: details.periodFrames).milliseconds,
            "bufferMs": format.duration(ofFrames: details.bufferFrames).milliseconds,
        ]
    }

    func encode(to encoder: any Encoder) throws { try object.encode(to: encoder) }

    var json: String { JSONOutput.text(self) }
}

extension Duration {
    /// This duration in milliseconds, to the microsecond.
    var milliseconds: Double {
        let parts = components
        let microseconds = parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000
        return Double(microseconds) / 1_000
    }
}

extension Stretch {
    fileprivate var object: JSONObject {
        [
            "start": beginning, "end": ending, "overlap": Double(overlap) / 16_000,
            "unheard": isUnheard,
        ]
    }
}

extension TakeAttempt {
    fileprivate var object: JSONObject {
        let (timings, route) = (result.timings, result.route)
        return [
            "number": number, "url": url, "stretch": stretchStart.map { Double($0) / 16_000 },
            "httpVersion": timings.httpVersion,
            "ending": result.ending.word, "reason": result.ending.reason,
            "status": result.status, "sentBytes": result.sentByteCount,
            "wireBytes": result.wireByteCount, "framedBytes": result.framedByteCount,
            "receivedBytes": result.receivedByteCount,
            "messagesSent": result.messages?.sent, "messagesReceived": result.messages?.received,
            "bodyComplete": result.isBodyComplete,
            "reused": result.hasReusedConnection, "proxy": route.isByProxy, "tls": route.tls,
            "cipher": route.cipher, "local": route.local, "remote": route.remote,
            "resolvedMs": timings.resolved?.milliseconds,
            "connectedMs": timings.connected?.milliseconds,
            "securedMs": timings.secured?.milliseconds,
            "headOutMs": timings.headOut?.milliseconds,
            "firstByteOutMs": timings.firstByteOut?.milliseconds,
            "lastByteOutMs": timings.lastByteOut?.milliseconds,
            "firstByteInMs": timings.firstByteIn?.milliseconds,
            "firstBodyByteInMs": timings.firstBodyByteIn?.milliseconds,
            "firstTextMs": timings.firstText?.milliseconds,
            "lastByteInMs": timings.lastByteIn?.milliseconds,
            "endMs": timings.end?.milliseconds,
        ]
    }
}
