// SPDX-License-Identifier: Apache-2.0

/// How the values of an answer are told apart, and where their text is.
///
/// It is data, so that the description of a service can bring its own.
package struct ValueRule: Sendable, Hashable {
    /// The first place with a text counts.
    var textPaths: [JSONPath]
    /// The first that matches decides.
    var selectors: [ValueSelector]
    /// For text that no selector matches; nil for the kind that is usual in this framing.
    var unmatched: ValueKind?
    /// For such text; nil for its kind's own way.
    var merge: TextMerge?
    var words = TimedTextRule(paths: [JSONPath](dotted: "words", "speech.tokens"))
    /// Such as sentences, or what one speaker says.
    var segments = TimedTextRule(paths: [JSONPath](dotted: "segments"))
    var language = [JSONPath](
        dotted: "language", "language_code", "detected_language", "audio_language")
    /// From 0 to 1, of the whole text.
    var confidence = [JSONPath](dotted: "confidence", "speech.confidence")
    var duration = [JSONPath](dotted: "duration")
    /// Seconds per unit of that time.
    var durationUnit = 1.0
    /// True when the service has heard the end of the speech.
    package internal(set) var stop: JSONPath?
    var skipped: Set<String> = []

    var failures: [ValueSelector] { selectors.filter { $0.kind == .failure } }

    func selector(of value: JSONValue, event: String?) -> ValueSelector? {
        selectors.first { $0.condition.holds(in: value, of: event) }
    }

    /// A string on its own is its own text.
    ///
    /// - Returns: nil without a text; empty when all texts are empty.
    static func text(of value: JSONValue, at paths: [JSONPath]) -> String? {
        if let text = value.string { return text }
        var found: String?
        for path in paths {
            guard let text = path.text(in: value) else { continue }
            if !text.isEmpty { return text }
            found = text
        }
        return found
    }
}

extension ValueRule {
    /// Reads utter's own endpoint, wit.ai's `/speech` and `/dictation` in all their versions, the
    /// events of OpenAI, Mistral, LocalAI, vLLM and speaches, and every service that answers with
    /// one object with a `text`.
    ///
    /// Values are told apart by the event's name, by `type`, then by `error`, `intents` and
    /// `is_final`. A sequence without any of these is old `/speech`: its last text is the final. In
    /// a stream of events each such text is a piece of the whole, as speaches sends it.
    static let standard = ValueRule(
        textPaths: [JSONPath(dotted: "text")],
        selectors: [
            ValueSelector(.event, .equals(.string("error")), is: .failure),
            ValueSelector(.event, .equals(.string("ping")), is: .ignored),
            ValueSelector(type: "error", is: .failure),
            ValueSelector(type: "ERROR", is: .failure),
            ValueSelector(type: "partial", is: .partial),
            ValueSelector(type: "final", is: .final),
            ValueSelector(type: "PARTIAL_TRANSCRIPTION", is: .partial),
            ValueSelector(type: "FINAL_TRANSCRIPTION", is: .final),
            ValueSelector(type: "PARTIAL_UNDERSTANDING", is: .ignored),
            ValueSelector(type: "FINAL_UNDERSTANDING", is: .restatement),
            ValueSelector("error", .isSet, is: .failure),
            ValueSelector("result", .equals(.string("error")), is: .failure),
            // OpenAI says a text in pieces, then as a whole; Mistral names the piece `text`.
            ValueSelector(
                type: "transcript.text.delta", is: .provisional,
                textPaths: [JSONPath(dotted: "delta")], merge: .append),
            ValueSelector(type: "transcription.text.delta", is: .provisional, merge: .append),
            ValueSelector(type: "transcript.text.done", is: .final, merge: .replace),
            ValueSelector(type: "transcription.done", is: .final, merge: .replace),
            ValueSelector(type: "transcript.text.segment", is: .segment),
            ValueSelector(type: "transcription.segment", is: .segment),
            // vLLM; the last chunk has an empty list, and what the request has cost.
            ValueSelector(
                "choices", .exists, is: .provisional,
                textPaths: [JSONPath(dotted: "choices.0.delta.content")], merge: .append),
            // wit.ai says the final text twice, the second time with what it understood.
            ValueSelector("intents", .exists, is: .restatement),
            ValueSelector("is_final", .equals(.bool(true)), is: .final),
            ValueSelector("is_final", .equals(.bool(false)), is: .partial),
        ])
}
