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
        let said = RuledText(text)
        let ruled = rules.applied(to: said, in: language)
        guard !ruled.changes.isEmpty else { return }
        write(ruled.text, by: ruled.changes)
        words = words.ruled(as: ruled, of: said.words.count) {
            rules.applied(to: RuledText($0), in: language).text
        }
        segments = segments.ruled(as: ruled, of: said.words.count) {
            rules.applied(to: RuledText($0), in: language).text
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

extension [RecognizedWord] {
    /// The pieces of a text with what the rules have made of it; those of which nothing is left are
    /// missing.
    ///
    /// A phrase that spans two pieces stands in the first. Where the pieces do not have the `count`
    /// words of the text, each goes through the rules by itself.
    fileprivate func ruled(
        as text: RuledText, of count: Int, otherwise rule: (String) -> String
    ) -> [RecognizedWord] {
        let owners = enumerated().flatMap { number, piece in
            repeatElement(number, count: RuledText(piece.text).words.count)
        }
        guard owners.count == count else {
            return map { piece in
                var piece = piece
                piece.text = rule(piece.text)
                return piece
            }.filter { !$0.text.isEmpty }
        }
        // Some services have the marks in the text alone.
        let isBare = allSatisfy { piece in RuledText(piece.text).words.allSatisfy(\.isBare) }
        let owned = Dictionary(grouping: text.words) { owners[$0.span.lowerBound] }
        return owned.sorted { $0.key < $1.key }.map { number, words in
            var piece = self[number]
            let last = words.last.map { owners[$0.span.upperBound - 1] } ?? number
            piece.text = text.text(of: words, isBare: isBare)
            guard last > number else { return piece }
            piece.probability = self[number...last].compactMap(\.probability).min()
            // The next piece may have words of its own behind that.
            if owned[last] == nil { piece.end = self[last].end }
            return piece
        }
    }
}
