// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// How a good answer becomes hypotheses: what a service's description says of it, as data.
public struct AnswerRule: Sendable, Hashable {
    var framing: AnswerFraming
    package internal(set) var values: ValueRule
    /// The condition that must hold somewhere in the answer, or it is a failure; nil: none.
    var success: ValueCondition?
    var noSpeech: ValueCondition?
    /// Texts that stand for a recording without speech, such as "[BLANK_AUDIO]"; in lower case and
    /// without white space.
    var silence: Set<String> = []
    /// Where an answer says how probable silence is, from 0 to 1; empty: the texts always count.
    var silencePlaces: [JSONPath] = []
    /// The texts count where each value is at least this, since people do say "thank you".
    var leastSilence = 0.6
    package var empty = EmptyAnswer.failure
    /// A body that begins as a tag does is no text: the answer is a page, or that of a place that stores.
    var refusesMarkup = false
    package internal(set) var errors = ErrorPlaces()
    /// The fields of the response's head that may hold the transcript, with `AnswerFraming.header`;
    /// the first that is there counts.
    var headers: [HeaderTranscript] = []
    /// The lines of the table `answer` that say this rule.
    package var lines: [String] { text.lines }
    var text: AnswerText

    static let standardByteLimit = 8 << 20

    init(framing: AnswerFraming, values: ValueRule = .standard) {
        self.framing = framing
        self.values = values
        text = AnswerText(lines: ["answer.framing = \(TOMLText.quoted(framing.rawValue))"])
    }

    /// By what the service says and sends, as the usual services say it.
    public static let automatic = AnswerRule(framing: .automatic)

    static func json(path: JSONPath) -> AnswerRule {
        AnswerRule(
            framing: .json,
            values: ValueRule(textPaths: [path], selectors: ValueRule.standard.failures))
    }

    /// Reads `auto`, `text`, `sequence`, `events`, `subtitles` or `json:PATH`.
    ///
    /// - Throws: `ServiceError.invalidAnswerRule`, or `.invalidPath` for what follows `json:`.
    public init(_ text: String) throws(ServiceError) {
        if text.hasPrefix("json:") {
            let path = String(text.dropFirst("json:".count))
            self = .json(path: try JSONPath(path))
            self.text.lines.append("answer.text = \(TOMLText.quoted(path))")
            return
        }
        // A word does not say which path, or which header.
        guard let framing = AnswerFraming(rawValue: text), framing != .json, framing != .header
        else { throw .invalidAnswerRule(text: TerminalText.cut(TerminalText.sanitized(text))) }
        self.init(framing: framing)
    }
}

/// How a rule is written; rules that mean the same are equal however they are written.
struct AnswerText: Sendable, Hashable {
    var lines: [String]

    static func == (_: AnswerText, _: AnswerText) -> Bool { true }

    func hash(into _: inout Hasher) {}
}

extension AnswerRule {
    /// `byteLimit` is the most bytes that are kept; `isOfStore`: no text is wanted.
    ///
    /// In a stream these are the bytes since the last hypothesis, and of texts that stay: partials
    /// replace each other, so that an hour of them needs no room.
    package func makeDecoder(
        _ head: AnswerHead, isOfStore: Bool = false, byteLimit: Int = standardByteLimit
    ) -> any ResponseDecoder {
        var rule = self
        rule.refusesMarkup = isOfStore || head.isWebPage
        if let noSpeech, let said = noSpeech.headerText(in: head), noSpeech.holds(ofHeader: said) {
            return HeaderAnswer(.success(""))
        }
        if let success, let said = success.headerText(in: head), !success.holds(ofHeader: said) {
            return RefusedAnswer(rule: self, code: said, head: head)
        }
        let decoder: any ResponseDecoder
        switch framing {
        case .automatic:
            decoder = AutomaticAnswer(rule, mediaType: MediaType(head.mediaType), limit: byteLimit)
        case .header: decoder = HeaderAnswer(headers, in: head, limit: byteLimit)
        case .text, .json, .sequence, .events, .subtitles:
            decoder = rule.decoder(of: framing, limit: byteLimit)
        }
        return Charset(head.mediaType).map { TranscodedAnswer(decoder, $0) } ?? decoder
    }

    /// For a body whose form is known.
    func decoder(of framing: AnswerFraming, limit: Int) -> any ResponseDecoder {
        switch framing {
        case .json: PiecewiseAnswer(JSONReader(rule: self, limit: limit))
        case .sequence: PiecewiseAnswer(JSONSequenceReader(rule: self, limit: limit))
        case .events: PiecewiseAnswer(EventReader(rule: self, limit: limit))
        case .subtitles: PiecewiseAnswer(SubtitleReader(limit: limit))
        case .text, .automatic, .header: PiecewiseAnswer(TextReader(rule: self, limit: limit))
        }
    }
}

extension AnswerRule {
    /// A text without the lines that only say that there was no speech; `value` is the one it was in.
    func spoken(_ text: String, in value: JSONValue? = nil) -> String {
        guard !silence.isEmpty else { return text }
        if !silencePlaces.isEmpty {
            let values = value.map { value in silencePlaces.flatMap { $0.values(in: value) } } ?? []
            let isSilent = values.allSatisfy { value in
                if case .number(let share) = value { share >= leastSilence } else { false }
            }
            guard isSilent, !values.isEmpty else { return text }
        }
        let lines = text.split(whereSeparator: \.isNewline)
        let kept = lines.filter { line in
            var rest = Self.silenceKey(line)
            // A longer text may hold a shorter one.
            for mark in silence.sorted(by: { $0.utf8.count > $1.utf8.count }) {
                rest = rest.replacing(mark, with: "")
            }
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

    /// The service's message: one line of at most 200 bytes, harmless to a terminal; nil: none.
    package func message(in head: AnswerHead) -> String? {
        messageHeaders.lazy.compactMap(head.header).compactMap { JSONValue.string($0).label }
            .first { !$0.isEmpty }
    }
}
