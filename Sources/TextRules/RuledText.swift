// SPDX-License-Identifier: Apache-2.0

/// A word of a text, its marks, and the space before it.
package struct RuledWord: Sendable, Hashable {
    /// The space between the word before and this one, or the line breaks that were spoken there.
    var gap = " "
    /// Marks before the letters, such as an opening quotation mark.
    var lead: String
    /// May have spaces, where a rule has written it.
    var core: String
    /// Marks behind the letters, such as a comma.
    var trail: String
    /// The letters as they are compared.
    let key: String
    /// Which of the words it was made of, by their numbers.
    package internal(set) var span: Range<Int>

    init(_ text: some StringProtocol, at number: Int) {
        let lead = text.prefix(while: Self.opens)
        let trail = text.dropFirst(lead.count).reversed().prefix(while: Self.closes).reversed()
        self.lead = String(lead)
        self.trail = String(trail)
        core = String(text.dropFirst(lead.count).dropLast(trail.count))
        key = Self.key(core)
        span = number..<number + 1
    }

    static func key(_ text: String) -> String { text.lowercased().replacing("’", with: "'") }

    /// The keys of the words of a phrase.
    static func keys(_ phrase: String) -> [String] {
        phrase.split(whereSeparator: \.isWhitespace).map { RuledWord($0, at: 0).key }
    }

    private static func opens(_ character: Character) -> Bool {
        "\"'“„‘(«‹[{¿¡".contains(character)
    }
    private static func closes(_ character: Character) -> Bool {
        ".,;:!?…\"'”“’)»›]}".contains(character)
    }

    static let ends: Set<Character> = [".", "!", "?", "…", "\n"]

    package var text: String { lead + core + trail }
    var endsSentence: Bool { trail.contains { Self.ends.contains($0) } }
    var beginsUpper: Bool { core.first?.isUppercase == true }
    /// An abbreviation, such as "ER".
    var isUpper: Bool { core.count > 1 && core.allSatisfy(\.isUppercase) }

    mutating func raise() {
        guard let first = core.first, first.isLowercase else { return }
        core = first.uppercased() + core.dropFirst()
    }
}

/// A text on its way through the rules: the words that stay, and what the next one takes over from those
/// that were left out.
package struct RuledText: Sendable {
    package private(set) var words: [RuledWord] = []
    package private(set) var changes: [TextChange] = []
    /// For the next word: whether it begins a sentence now, its marks, and its gap.
    private var isRaised = false
    private var lead = ""
    private var gap: String?

    private init() {}

    /// A text of words between white space.
    package init(_ text: String) {
        words = text.split(whereSeparator: \.isWhitespace).enumerated()
            .map { RuledWord($1, at: $0) }
    }

    /// A text of pieces, each a word.
    package init(pieces: some Sequence<String>) {
        words = pieces.enumerated().map { number, piece in
            RuledWord(piece.drop(while: \.isWhitespace), at: number)
        }
    }

    package var text: String {
        words.enumerated().map { ($0 == 0 ? "" : $1.gap) + $1.text }.joined()
    }

    var beginsSentence: Bool { words.last?.endsSentence ?? true }

    /// Has a rule go through all words; it keeps or drops each, and says how many it has dealt with.
    mutating func pass(_ rule: (inout RuledText, ArraySlice<RuledWord>) -> Int) {
        var ruled = RuledText()
        ruled.changes = changes
        var rest = words[...]
        while !rest.isEmpty { rest = rest.dropFirst(max(1, rule(&ruled, rest))) }
        // Breaks at the end are of no use; marks are.
        if !ruled.lead.isEmpty, !ruled.words.isEmpty {
            ruled.words[ruled.words.count - 1].trail += ruled.lead
        }
        ruled.gap = nil
        self = ruled
    }

    mutating func keep(_ word: RuledWord) {
        var word = word
        if isRaised { word.raise() }
        word.lead = lead + word.lead
        if let gap { word.gap = gap }
        (isRaised, lead, gap) = (false, "", nil)
        words.append(word)
    }

    mutating func note(_ change: TextChange) {
        if changes.count < TextChange.limit { changes.append(change) }
    }

    /// Leaves words out: the marks behind them go to the word before, and the next one begins the sentence
    /// that they began.
    mutating func drop(_ dropped: ArraySlice<RuledWord>, by rule: TextChange.Rule) {
        guard let first = dropped.first, let last = dropped.last else { return }
        note(TextChange(rule, dropped.map(\.text).joined(separator: " ")))
        if beginsSentence, first.beginsUpper { isRaised = true }
        lead += first.lead
        guard let end = words.indices.last else { return }
        if last.endsSentence {
            if !words[end].endsSentence {
                words[end].trail = words[end].trail.filter { $0 != "," } + last.trail
            }
        } else if last.trail == ",", words[end].trail == "," {
            // Both commas were for what stood between them.
            words[end].trail = ""
        }
    }

    /// Leaves the last words out, if they are these.
    mutating func dropEnd(_ keys: [String]) {
        guard !keys.isEmpty, words.suffix(keys.count).map(\.key) == keys else { return }
        note(TextChange(.stopWord, words.suffix(keys.count).map(\.text).joined(separator: " ")))
        words.removeLast(keys.count)
        if let end = words.indices.last { words[end].trail.removeAll { $0 == "," } }
    }

    /// Leaves a word out that repeats the one before.
    mutating func merge(_ word: RuledWord, by rule: TextChange.Rule) {
        let end = words.count - 1
        note(TextChange(rule, "\(words[end].text) \(word.text)", words[end].core + word.trail))
        words[end].trail = word.trail
        words[end].span = words[end].span.lowerBound..<word.span.upperBound
    }

    /// Writes a mark in the place of its name, before the next word.
    mutating func open(_ mark: String, for said: ArraySlice<RuledWord>) {
        lead += mark
        note(TextChange(.marks, said.map(\.text).joined(separator: " "), mark))
    }

    /// Writes a mark in the place of its name; false where no word stands before it.
    mutating func mark(_ mark: String, for said: ArraySlice<RuledWord>) -> Bool {
        guard let end = words.indices.last else { return false }
        if mark.first == "\n" {
            gap = (gap ?? "") + mark
        } else {
            // The recogniser has heard a pause there, too.
            words[end].trail.removeAll { ".,;:!?…".contains($0) }
            words[end].trail += mark
        }
        isRaised = isRaised || mark.contains { RuledWord.ends.contains($0) }
        note(TextChange(.marks, said.map(\.text).joined(separator: " "), mark))
        return true
    }

    /// Takes back the sentence before; one that has just ended is the one that is meant.
    mutating func takeBack(by said: ArraySlice<RuledWord>) {
        var count = 0
        for word in words.reversed() {
            if word.endsSentence, count > 0 { break }
            count += 1
            if word.gap.contains("\n") { break }
        }
        let taken = words.suffix(count)
        note(TextChange(.takeBack, (taken + said).map(\.text).joined(separator: " ")))
        words.removeLast(count)
        (isRaised, lead) = (taken.first?.beginsUpper ?? said.first?.beginsUpper ?? false, "")
        gap = taken.first?.gap
    }

    /// Writes words in another way; nothing leaves them out.
    mutating func write(_ written: String, for said: ArraySlice<RuledWord>) {
        guard !written.isEmpty else { return drop(said, by: .words) }
        guard var word = said.first, let last = said.last else { return }
        let before = said.map(\.core).joined(separator: " ")
        if before != written { note(TextChange(.words, before, written)) }
        (word.core, word.trail) = (written, last.trail)
        word.span = word.span.lowerBound..<last.span.upperBound
        keep(word)
    }
}
