// SPDX-License-Identifier: Apache-2.0

/// The finals in order, and at most one partial after them.
///
/// A partial replaces the one before it; a final replaces the partial and stays. Texts are kept on
/// one line: outer white space goes, and a line break inside becomes a space.
public struct Transcript: Sendable, Hashable {
    /// The finals that have words, in the order in which they came.
    public private(set) var finals: [String] = []
    /// What is being said since the last final; may still change.
    public private(set) var partial = ""
    /// The words of all finals, when the service tells them.
    public private(set) var words: [RecognizedWord] = []

    /// Creates a transcript without words.
    public init() {}

    /// Takes over what the recogniser thinks now.
    public mutating func apply(_ hypothesis: Hypothesis) {
        let line = TerminalText.singleLine(hypothesis.text)
        guard hypothesis.isFinal else {
            partial = line
            return
        }
        partial = ""
        if !line.isEmpty { finals.append(line) }
        words.append(contentsOf: hypothesis.words)
    }

    /// Takes over several hypotheses in their order.
    public mutating func apply(_ hypotheses: [Hypothesis]) {
        for hypothesis in hypotheses { apply(hypothesis) }
    }

    /// Takes over what was said after it.
    public mutating func append(_ later: Transcript) {
        finals += later.finals
        partial = later.partial
        words += later.words
    }

    /// The finals, joined by a space; empty when nothing was heard.
    public var text: String { finals.joined(separator: " ") }

    /// The finals and the partial, joined by a space and harmless to a terminal.
    public var displayText: String {
        let parts = partial.isEmpty ? finals : finals + [partial]
        return TerminalText.sanitized(parts.joined(separator: " "))
    }
}
