// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// How a good answer becomes hypotheses: what a service's description says of it, as data.
public struct AnswerRule: Sendable, Hashable {
    var framing: AnswerFraming
    package var values: ValueRule
    /// What must be true somewhere in the answer, or it is a failure; nil when nothing must.
    var success: ValueCondition?
    /// What is true of an answer without speech.
    var noSpeech: ValueCondition?
    /// Texts that stand for a recording without speech, such as "[BLANK_AUDIO]"; in lower case and
    /// without white space.
    var silence: Set<String> = []
    /// What an answer without a byte means.
    package var empty = EmptyAnswer.failure
    package var errors = ErrorPlaces()
    /// The fields of the response's head that may hold the transcript, with `AnswerFraming.header`;
    /// the first that is there counts.
    var headers: [HeaderTranscript] = []

    /// The bytes of an answer that are read and kept unless told otherwise.
    static let standardByteLimit = 8 << 20

    init(framing: AnswerFraming, values: ValueRule = .standard) {
        self.framing = framing
        self.values = values
    }

    /// By what the service says and sends, as the usual services say it.
    public static let automatic = AnswerRule(framing: .automatic)
    static let text = AnswerRule(framing: .text)
    /// Events in the manner of OpenAI and its like.
    static let events = AnswerRule(framing: .events)
    static let subtitles = AnswerRule(framing: .subtitles)

    static func json(path: JSONPath) -> AnswerRule {
        AnswerRule(
            framing: .json,
            values: ValueRule(textPaths: [path], selectors: ValueRule.standard.failures))
    }

    /// JSON values, read while they come.
    static func jsonSequence(_ values: ValueRule) -> AnswerRule {
        AnswerRule(framing: .sequence, values: values)
    }

    /// Reads `auto`, `text`, `sequence`, `events`, `subtitles` or `json:PATH`.
    ///
    /// - Throws: `ServiceError.invalidAnswerRule`, or `.invalidPath` for what follows `json:`.
    public init(_ text: String) throws(ServiceError) {
        switch text {
        case "auto": self = .automatic
        case "text": self = .text
        case "sequence": self = .jsonSequence(.standard)
        case "events": self = .events
        case "subtitles": self = .subtitles
        case _ where text.hasPrefix("json:"):
            self = .json(path: try JSONPath(String(text.dropFirst("json:".count))))
        default:
            let shown = TerminalText.cut(TerminalText.sanitized(text))
            throw .invalidAnswerRule(text: shown)
        }
    }
}

extension AnswerRule: CustomStringConvertible {
    /// The rule as it is written, as far as one word can say it.
    public var description: String {
        switch framing {
        case .json: "json:\(values.textPaths.first ?? JSONPath(names: "text"))"
        case .text, .sequence, .events, .subtitles: framing.rawValue
        case .automatic, .header: AnswerFraming.automatic.rawValue
        }
    }
}

extension AnswerRule {
    /// Makes a decoder for one answer.
    ///
    /// - Parameters:
    ///   - head: what the head of the response says.
    ///   - byteLimit: the most bytes that are kept. Of a stream these are the bytes since the
    ///     last hypothesis, and those of what stays: partials replace each other, so that an hour
    ///     of them needs no room.
    /// - Returns: a decoder that has seen nothing.
    package func makeDecoder(
        _ head: AnswerHead, byteLimit: Int = standardByteLimit
    ) -> any ResponseDecoder {
        if let noSpeech, let said = noSpeech.headerText(in: head), noSpeech.holds(ofHeader: said) {
            return SilentAnswer()
        }
        if let success, let said = success.headerText(in: head), !success.holds(ofHeader: said) {
            return RefusedAnswer(rule: self, code: said, head: head)
        }
        let mediaType = MediaType(head.mediaType)
        switch framing {
        case .automatic: return AutomaticAnswer(self, mediaType: mediaType, limit: byteLimit)
        case .text:
            return PiecewiseAnswer(
                TextReader(rule: self, limit: byteLimit))
        case .json: return PiecewiseAnswer(JSONReader(rule: self, limit: byteLimit))
        case .sequence: return PiecewiseAnswer(JSONSequenceReader(rule: self, limit: byteLimit))
        case .events: return PiecewiseAnswer(EventReader(rule: self, limit: byteLimit))
        case .subtitles: return PiecewiseAnswer(SubtitleReader(limit: byteLimit))
        case .header: return HeaderAnswer(headers, in: head, limit: byteLimit)
        }
    }

    package func makeDecoder(
        mediaType: String?, byteLimit: Int = standardByteLimit
    ) -> any ResponseDecoder {
        makeDecoder(AnswerHead(mediaType: mediaType), byteLimit: byteLimit)
    }
}

extension AnswerRule {
    /// Without the lines that only say that there was no speech.
    func spoken(_ text: String) -> String {
        guard !silence.isEmpty else { return text }
        let lines = text.split(whereSeparator: \.isNewline)
        let kept = lines.filter { line in
            var rest = Self.silenceKey(line)
            for mark in silence { rest = rest.replacing(mark, with: "") }
            return !rest.isEmpty
        }
        return kept.count == lines.count ? text : kept.joined(separator: "\n")
    }

    static func silenceKey(_ text: some StringProtocol) -> String {
        text.lowercased().filter { !$0.isWhitespace }
    }
}

enum AnswerFraming: String, Sendable, Hashable, CaseIterable {
    /// By what the service says and sends.
    ///
    /// A JSON type is read as a sequence of values, of which one value is the simplest case: wit.ai
    /// streams its many values as `application/json`. Event streams and subtitles are read as
    /// such. `text/…`, an unknown type and none at all are sniffed: what begins with
    /// `{` is JSON, since no transcript does and many servers send JSON as `text/html`; what begins
    /// like events or subtitles are these; everything else is text (`[` and `"` begin transcripts
    /// such as "[BLANK_AUDIO]"). Sound and images are refused.
    case automatic = "auto"
    case text
    case json
    /// JSON values, read while they come.
    case sequence
    /// Server-sent events (WHATWG HTML §9.2), read while they come.
    case events
    case subtitles
    case header
}

/// Where a service puts the words of a failure, looked at before the usual places.
package struct ErrorPlaces: Sendable, Hashable {
    /// The first with words counts.
    var messages: [JSONPath] = []
    /// Fields of the head, looked at before the body; names in lower case.
    var messageHeaders: [String] = []
    var codes: [JSONPath] = []

    /// One line of at most 200 bytes, harmless to a terminal; nil for none.
    package func message(in head: AnswerHead) -> String? {
        messageHeaders.lazy.compactMap(head.header).compactMap { JSONValue.string($0).label }
            .first { !$0.isEmpty }
    }
}
