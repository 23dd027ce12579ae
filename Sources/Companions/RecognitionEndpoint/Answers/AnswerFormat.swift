// SPDX-License-Identifier: Apache-2.0

enum AnswerFormat: String, Sendable, Codable {
    /// JSON objects, one a line, while the audio comes: partial texts, then the final one.
    case lines
    case object
    case text

    /// Chooses by the value of `Accept` (RFC 9110 §12.5.1).
    ///
    /// The order and the weights of what a client accepts do not matter, except that weight 0
    /// excludes: lines before an object before text.
    ///
    /// - Returns: nil when none is accepted.
    init?(accept: String?) {
        let ranges = Self.acceptedRanges(in: accept ?? "*/*")
        guard let choice = Self.choices.first(where: { ranges.contains($0.0) }) else { return nil }
        self = choice.1
    }

    private static let choices: [(String, AnswerFormat)] = [
        ("application/x-ndjson", .lines), ("application/ndjson", .lines),
        ("application/json", .object), ("text/plain", .text), ("*/*", .lines),
        ("application/*", .lines), ("text/*", .text),
    ]

    var mediaType: String {
        switch self {
        case .lines: "application/x-ndjson"
        case .object: "application/json"
        case .text: "text/plain; charset=utf-8"
        }
    }

    static let documents = [
        "json": "application/json", "verbose_json": "application/json",
        "text": "text/plain; charset=utf-8", "srt": "text/plain; charset=utf-8",
        "vtt": "text/vtt; charset=utf-8",
    ]

    func mediaType(of recognition: Recognition) -> String {
        self == .object
            ? recognition.wantedFormat.flatMap { Self.documents[$0] } ?? mediaType : mediaType
    }

    /// The answer's last part, or the whole of it: what was said.
    func final(_ recognition: Recognition) -> String {
        switch recognition.wantedFormat {
        case "text" where self == .object: return recognition.text + "\n"
        case "srt" where self == .object: return Self.cues(recognition, ",", numbered: true)
        case "vtt" where self == .object:
            return "WEBVTT\n\n" + Self.cues(recognition, ".", numbered: false)
        default: break
        }
        if self == .text { return recognition.text + "\n" }
        var line = AnswerLine(type: self == .lines ? "final" : nil, text: recognition.text)
        if self == .object, recognition.wantedFormat == "verbose_json" {
            (line.task, line.language) = ("transcribe", recognition.language)
            line.segments = Self.cues(recognition).enumerated().map { id, cue in
                AnswerLine.Segment(
                    id: id, start: cue.start.rounded(to: 100), end: cue.end.rounded(to: 100),
                    text: cue.text)
            }
        }
        line.duration = recognition.duration.rounded(to: 100)
        (line.notices, line.gaps) = (recognition.notices, recognition.gaps)
        line.words = recognition.roundedWords
        return line.json
    }

    private static func cues(_ recognition: Recognition, _ point: String, numbered: Bool) -> String
    {
        func time(_ seconds: Double) -> String {
            let ms = Int((seconds * 1_000).rounded())
            let parts = [ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60]
                .map { $0 < 10 ? "0\($0)" : "\($0)" }
            return parts.joined(separator: ":") + point + "\(1_000 + ms % 1_000)".dropFirst()
        }
        return cues(recognition).enumerated().map { number, cue in
            (numbered ? "\(number + 1)\n" : "") + "\(time(cue.start)) --> \(time(cue.end))\n"
                + cue.text + "\n"
        }.joined(separator: "\n")
    }

    /// Pieces of some words each, which end at pauses or when they are long.
    private static func cues(
        _ recognition: Recognition
    ) -> [(start: Double, end: Double, text: String)] {
        var words = recognition.words
        if words.isEmpty, !recognition.text.isEmpty {
            words = [RecognisedWord(text: recognition.text, start: 0, end: recognition.duration)]
        }
        var cues: [(start: Double, end: Double, text: String)] = []
        for word in words {
            if let last = cues.last, word.start - last.end < pause,
                word.end - last.start < longestCue, last.text.count + word.text.count < longestText
            {
                cues[cues.count - 1] = (last.start, word.end, last.text + " " + word.text)
            } else {
                cues.append((word.start, word.end, word.text))
            }
        }
        return cues
    }

    /// In seconds and characters; two lines of 42 characters are what subtitles have.
    private static let (pause, longestCue, longestText) = (1.0, 7.0, 84)

    static func partial(_ partial: PartialRecognition) -> String {
        var line = AnswerLine(type: "partial", text: partial.text)
        line.time = partial.time.rounded(to: 100)
        return line.json
    }

    /// The last line of an answer that had begun before something went wrong.
    static func error(_ message: String, isEvent: Bool = false) -> String {
        let line = AnswerLine(type: "error", message: message)
        return isEvent ? event(line) : line.json
    }

    static let eventType = "text/event-stream"

    /// An event of Server-Sent Events (HTML Standard §9.2).
    static func event(_ line: AnswerLine) -> String { "data: \(line.json)\n" }

    static func refusal(_ message: String) -> String {
        AnswerLine(error: AnswerLine.Reason(message: message)).json
    }

    private static func acceptedRanges(in accept: String) -> [String] {
        accept.split(separator: ",").compactMap { element in
            let parts = element.lowercased().filter { $0 != " " && $0 != "\t" }
                .split(separator: ";")
            guard let range = parts.first else { return nil }
            let isExcluded = parts.dropFirst().contains { part in
                part.hasPrefix("q=") && Double(String(part.dropFirst(2))) == 0
            }
            return isExcluded ? nil : String(range)
        }
    }
}

extension Recognition {
    /// The words with the precision that clients get.
    var roundedWords: [RecogniserLine.Word] {
        words.map { word in
            RecogniserLine.Word(
                word: word.text, start: word.start.rounded(to: 100),
                end: word.end.rounded(to: 100), probability: word.probability?.rounded(to: 10_000))
        }
    }
}

extension Double {
    fileprivate func rounded(to parts: Double) -> Double { (self * parts).rounded() / parts }
}

struct AnswerLine: Encodable {
    struct Reason: Encodable {
        var message: String
    }

    /// Some words of a text and their place in the audio, in seconds.
    struct Segment: Encodable {
        var id: Int
        var start, end: Double
        var text: String
    }

    struct Model: Encodable {
        var id: String
        var object = "model"
        /// In seconds since 1970.
        var created: Int
        var ownedBy = "utter"

        enum CodingKeys: String, CodingKey {
            case id, object, created
            case ownedBy = "owned_by"
        }
    }

    struct Load: Encodable {
        var running, maximum: Int
    }

    var type, status, text, message, delta, task, language: String?
    var time, duration: Double?
    var words: [RecogniserLine.Word]?
    var segments: [Segment]?
    /// Oddities of the recording, and where silence stands for lost sound.
    var notices: [String]?
    var gaps: [RecognitionGap]?
    var error: Reason?
    var recognitions: Load?
    var object: String?
    var data: [Model]?

    var json: String { Self.json(self) }

    static func json(_ value: some Encodable) -> String {
        // Terminals obey the control characters of C1 and DEL, which JSON allows in a string.
        String(decoding: jsonLine(of: value), as: UTF8.self).unicodeScalars.reduce(into: "") {
            text, scalar in
            if (0x7F...0x9F).contains(scalar.value) {
                text += "\\u00" + String(scalar.value, radix: 16)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}
