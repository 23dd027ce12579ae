// SPDX-License-Identifier: Apache-2.0

extension ValueRule {
    /// Reads utter's own endpoint, wit.ai's `/speech` and `/dictation` in all their versions, the
    /// events of OpenAI, Mistral, LocalAI, vLLM and speaches, and every service that answers with
    /// one object with a `text`.
    ///
    /// Values are told apart by the event's name, by `type`, then by `error`, `intents` and
    /// `is_final`. A sequence without any of these is old `/speech`: its last text is the final. In
    /// a stream of events each such text is a piece of the whole, as speaches sends it.
    package static let standard = ValueRule(
        textPaths: [JSONPath(names: "text")],
        selectors: [
            ValueSelector(.event, .equals(.string("error")), is: .failure),
            ValueSelector(.event, .equals(.string("ping")), is: .ignored),
            ValueSelector("type", equals: "error", is: .failure),
            ValueSelector("type", equals: "ERROR", is: .failure),
            ValueSelector("type", equals: "partial", is: .partial),
            ValueSelector("type", equals: "final", is: .final),
            ValueSelector("type", equals: "PARTIAL_TRANSCRIPTION", is: .partial),
            ValueSelector("type", equals: "FINAL_TRANSCRIPTION", is: .final),
            ValueSelector("type", equals: "PARTIAL_UNDERSTANDING", is: .ignored),
            ValueSelector("type", equals: "FINAL_UNDERSTANDING", is: .restatement),
            ValueSelector(.path(JSONPath(names: "error")), .isSet, is: .failure),
            ValueSelector("result", equals: "error", is: .failure),
            // OpenAI says a text in pieces, then as a whole; Mistral names the piece `text`.
            ValueSelector(
                "type", equals: "transcript.text.delta", is: .provisional,
                textPaths: [JSONPath(names: "delta")], merge: .append),
            ValueSelector(
                "type", equals: "transcription.text.delta", is: .provisional, merge: .append),
            ValueSelector("type", equals: "transcript.text.done", is: .final, merge: .replace),
            ValueSelector("type", equals: "transcription.done", is: .final, merge: .replace),
            ValueSelector("type", equals: "transcript.text.segment", is: .segment),
            ValueSelector("type", equals: "transcription.segment", is: .segment),
            // vLLM; the last chunk has an empty list, and what the request has cost.
            ValueSelector(
                .path(JSONPath(names: "choices")), .exists, is: .provisional,
                textPaths: [
                    JSONPath(names: "choices").element(0).member("delta").member("content")
                ],
                merge: .append),
            // wit.ai says the final text twice, the second time with what it understood.
            ValueSelector(.path(JSONPath(names: "intents")), .exists, is: .restatement),
            ValueSelector(.path(JSONPath(names: "is_final")), .equals(.bool(true)), is: .final),
            ValueSelector(.path(JSONPath(names: "is_final")), .equals(.bool(false)), is: .partial),
        ])
}
