// SPDX-License-Identifier: Apache-2.0

package import TextRules

extension Transcript {
    /// A transcript of which no more is known than its text.
    package init(plain text: String) {
        self.init()
        finals = text.isEmpty ? [] : [text]
    }

    /// Has the rules change what was heard, which stays in `raw`; the words and segments keep their
    /// times.
    ///
    /// A language that was heard counts before the one that was asked for (`language`).
    package mutating func apply(_ rules: TextRules, in language: String?) {
        guard !rules.isEmpty, !finals.isEmpty else { return }
        let language = self.language ?? language
        let ruled = rules.applied(to: RuledText(text), in: language)
        guard !ruled.changes.isEmpty else { return }
        write(ruled.text, by: ruled.changes)
        let timed = rules.applied(to: RuledText(pieces: words.map(\.text)), in: language)
        words = timed.words.compactMap { word in
            let said = words[word.span]
            guard var whole = said.first else { return nil }
            whole.text = word.text
            whole.end = said.last?.end
            whole.probability = said.compactMap(\.probability).min()
            return whole
        }
        segments = segments.compactMap { segment in
            var segment = segment
            let ruled = rules.applied(to: RuledText(segment.text), in: language)
            if !ruled.changes.isEmpty { segment.text = ruled.text }
            return segment.text.isEmpty ? nil : segment
        }
    }

    /// Whether the text ended with the words that end hands-free dictation.
    package var hasStopWord: Bool { changes?.contains { $0.rule == .stopWord } == true }

    /// Replaces the text, of which the first stays in `raw`.
    package mutating func write(_ text: String, by changes: [TextChange]) {
        raw = raw ?? self.text
        self.changes = (self.changes ?? []) + changes
        finals = text.isEmpty ? [] : [text]
    }
}
