// SPDX-License-Identifier: Apache-2.0

/// How the values of a JSON sequence are told apart and where their text is.
///
/// It is data, so that the description of a service can bring its own.
public struct SequenceRule: Sendable, Hashable {
    /// Where the text of a value may be; the first place that has one counts.
    public var textPaths: [JSONPath]
    /// What tells the kinds apart; the first that matches decides.
    public var selectors: [ValueSelector]
    /// The kind of a value with text that no selector matches.
    public var unmatched: ValueKind
    /// Where the list of words is.
    public var wordsPath: JSONPath
    /// Where the seconds of audio that were heard are.
    public var durationPath: JSONPath

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - textPaths: where the text may be.
    ///   - selectors: what tells the kinds apart.
    ///   - unmatched: the kind of everything else that has text.
    ///   - wordsPath: a list of objects with `word` and, in seconds, `start` and `end`, and
    ///     `probability` or `confidence`.
    ///   - durationPath: a number of seconds.
    public init(
        textPaths: [JSONPath],
        selectors: [ValueSelector],
        unmatched: ValueKind = .provisional,
        wordsPath: JSONPath = JSONPath(names: "words"),
        durationPath: JSONPath = JSONPath(names: "duration")
    ) {
        self.textPaths = textPaths
        self.selectors = selectors
        self.unmatched = unmatched
        self.wordsPath = wordsPath
        self.durationPath = durationPath
    }

    /// Reads utter's own endpoint, wit.ai's `/speech` and `/dictation` in all their versions, and
    /// every service that answers with one object with a `text`.
    ///
    /// Values are told apart by `type`, then by `error`, `intents` and `is_final`. An answer
    /// without any of these is old `/speech`: its last text is the final.
    public static let standard = SequenceRule(
        textPaths: [JSONPath(names: "text")],
        selectors: [
            ValueSelector("type", equals: "error", is: .failure),
            ValueSelector("type", equals: "ERROR", is: .failure),
            ValueSelector("type", equals: "partial", is: .partial),
            ValueSelector("type", equals: "final", is: .final),
            ValueSelector("type", equals: "PARTIAL_TRANSCRIPTION", is: .partial),
            ValueSelector("type", equals: "FINAL_TRANSCRIPTION", is: .final),
            ValueSelector("type", equals: "PARTIAL_UNDERSTANDING", is: .ignored),
            ValueSelector("type", equals: "FINAL_UNDERSTANDING", is: .restatement),
            ValueSelector(path: JSONPath(names: "error"), test: .isSet, kind: .failure),
            ValueSelector("result", equals: "error", is: .failure),
            // wit.ai says the final text twice, the second time with what it understood.
            ValueSelector(path: JSONPath(names: "intents"), test: .exists, kind: .restatement),
            ValueSelector(
                path: JSONPath(names: "is_final"), test: .equals(.bool(true)), kind: .final),
            ValueSelector(
                path: JSONPath(names: "is_final"), test: .equals(.bool(false)), kind: .partial),
        ])
}

extension SequenceRule {
    /// What the value is, or nil when no selector knows it.
    func markedKind(of value: JSONValue) -> ValueKind? {
        selectors.first { $0.matches(value) }?.kind
    }

    /// Whether a whole document says that the service failed.
    static func saysFailure(_ value: JSONValue) -> Bool {
        standard.selectors.contains { $0.kind == .failure && $0.matches(value) }
    }

    /// The text of a value; a string on its own is its own text.
    func text(of value: JSONValue) -> String? {
        if let text = value.string { return text }
        for path in textPaths {
            if let text = path.text(in: value) { return text }
        }
        return nil
    }

    /// The hypothesis with the words and the duration that the value holds.
    func hypothesis(text: String, isFinal: Bool, in value: JSONValue) -> Hypothesis {
        var words: [RecognizedWord] = []
        if case .array(let elements)? = wordsPath.values(in: value).first {
            words = elements.compactMap(Self.word)
        }
        let duration = durationPath.values(in: value).first?.number
        return Hypothesis(text: text, isFinal: isFinal, words: words, duration: duration)
    }

    private static func word(_ value: JSONValue) -> RecognizedWord? {
        guard let text = value["word"]?.string else { return nil }
        let probability = value["probability"] ?? value["confidence"]
        return RecognizedWord(
            text: text, start: value["start"]?.number, end: value["end"]?.number,
            probability: probability?.number)
    }
}
