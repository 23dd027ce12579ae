// SPDX-License-Identifier: Apache-2.0

/// How the body of a good answer becomes hypotheses.
public enum AnswerRule: Sendable, Hashable {
    /// By what the service says and sends.
    ///
    /// A JSON type is read as a sequence of values by `SequenceRule.standard`, of which one value
    /// is the simplest case: wit.ai streams its many values as `application/json`. `text/…`, an
    /// unknown type and none at all are sniffed: what begins with `{` is JSON, since no transcript
    /// does and many servers send JSON as `text/html`; everything else is text (`[` and `"` begin
    /// transcripts such as "[BLANK_AUDIO]"). Sound, images, multipart and event streams are
    /// refused.
    case automatic
    /// The body is the text.
    case text
    /// The body is one JSON document with the text at this path.
    case json(path: JSONPath)
    /// The body is a sequence of JSON values, read while they come.
    case jsonSequence(SequenceRule)

    /// The bytes of an answer that are read and kept unless told otherwise.
    public static let standardByteLimit = 8 << 20

    /// Reads `auto`, `text`, `sequence` or `json:PATH`.
    ///
    /// - Throws: `ServiceError.invalidAnswerRule`, or `.invalidPath` for what follows `json:`.
    public init(_ text: String) throws(ServiceError) {
        switch text {
        case "auto": self = .automatic
        case "text": self = .text
        case "sequence": self = .jsonSequence(.standard)
        case _ where text.hasPrefix("json:"):
            self = .json(path: try JSONPath(String(text.dropFirst("json:".count))))
        default:
            let shown = TerminalText.cut(TerminalText.sanitized(text))
            throw .invalidAnswerRule(text: shown)
        }
    }

    /// Makes a decoder for one answer.
    ///
    /// - Parameters:
    ///   - mediaType: the value of the answer's `Content-Type` field, or nil without one.
    ///   - byteLimit: the most bytes that are kept. Of a sequence these are the bytes since the
    ///     last hypothesis, and those of all finals: partials replace each other, so that an hour
    ///     of them needs no room.
    /// - Returns: a decoder that has seen nothing.
    package func makeDecoder(
        mediaType: String?, byteLimit: Int = standardByteLimit
    ) -> any ResponseDecoder {
        switch self {
        case .automatic: AutomaticAnswer(mediaType: MediaType(mediaType), limit: byteLimit)
        case .text: TextAnswer(limit: byteLimit)
        case .json(let path): JSONAnswer(path: path, limit: byteLimit)
        case .jsonSequence(let rule): JSONSequenceAnswer(rule: rule, limit: byteLimit)
        }
    }
}

extension AnswerRule: CustomStringConvertible {
    /// The rule as it is written; a sequence by a rule of one's own is `sequence` too.
    public var description: String {
        switch self {
        case .automatic: "auto"
        case .text: "text"
        case .json(let path): "json:\(path)"
        case .jsonSequence: "sequence"
        }
    }
}
