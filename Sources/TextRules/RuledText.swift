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
    /// Whether its last marks were spoken.
    var isMarked = false
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

    private static let opening = Set("\"'“„‘(«‹[{¿¡")
    private static let closing = Set("\"'”“’)»›]}")
    static let pauses = Set(".,;:!?…")
    static let ends = Set(".!?…\n")

    private static func opens(_ character: Character) -> Bool { opening.contains(character) }
    private static func closes(_ character: Character) -> Bool {
        pauses.contains(character) || closing.contains(character)
    }

    package var text: String { lead + core + trail }
    package var isBare: Bool { lead.isEmpty && trail.isEmpty }
    /// The full stop of an abbreviation, such as "p.m.", ends none.
    var endsSentence: Bool {
        trail.contains(where: Self.ends.contains) && !(trail == "." && core.contains("."))
    }
    /// Whether quotation marks or brackets stand around it, or only on one side.
    var isQuoted: Bool { !lead.isEmpty || trail.contains(where: Self.closing.contains) }
    var beginsUpper: Bool { core.first?.isUppercase == true }
    /// An abbreviation, such as "ER".
    var isUpper: Bool { core.count > 1 && core.allSatisfy(\.isUppercase) }

    /// Counts marks as letters where a phrase has them, too.
    mutating func takeIn(lead mark: String = "", trail end: String = "") {
        if lead.hasSuffix(mark) { (lead, core) = (String(lead.dropLast(mark.count)), mark + core) }
        if trail.hasPrefix(end) { (core, trail) = (core + end, String(trail.dropFirst(end.count))) }
    }

    mutating func raise() {
        guard let first = core.first, first.isLowercase,
            !core.dropFirst().contains(where: \.isUppercase)
        else { return }
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

    package var text: String { text(of: words) }

    /// Some of the words as a text, without their marks if it `isBare`.
    package func text(of words: [RuledWord], isBare: Bool = false) -> String {
        words.enumerated().map { number, word in
            (number == 0 ? "" : word.gap) + (isBare ? word.core : word.text)
        }.joined()
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
        guard let end = words.indices.last, last.trail != ",", !last.trail.isEmpty,
            !words[end].endsSentence
        else { return }
        words[end].trail.removeAll { ",;:".contains($0) }
        words[end].trail += last.trail
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

    /// More marks in one place are words that mean something else.
    private static let markLimit = 8

    /// Writes a mark in the place of its name, before the next word; false in quotation marks, and
    /// where marks stand already.
    mutating func open(_ mark: String, for said: ArraySlice<RuledWord>) -> Bool {
        guard !said.contains(where: \.isQuoted), lead.utf8.count < Self.markLimit else {
            return false
        }
        lead += mark
        note(TextChange(.marks, said.map(\.text).joined(separator: " "), mark))
        return true
    }

    /// Writes a mark in the place of its name; false where no word stands before it, or in quotation marks
    /// and between digits, where the name is a word.
    mutating func mark(
        _ mark: String, for said: ArraySlice<RuledWord>, before next: RuledWord?
    ) -> Bool {
        guard let end = words.indices.last, !said.contains(where: \.isQuoted),
            words[end].trail.utf8.count < Self.markLimit, (gap ?? "").utf8.count < Self.markLimit,
            words[end].core.last?.isNumber != true || next?.core.first?.isNumber != true
        else { return false }
        if mark.first == "\n" {
            gap = (gap ?? "") + mark
        } else {
            // The recogniser has heard a pause there, too.
            if !words[end].isMarked { words[end].trail.removeAll(where: RuledWord.pauses.contains) }
            words[end].trail += mark
            words[end].isMarked = true
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
        // A copy: a slice would keep all words from being changed in place.
        let taken = Array(words.suffix(count))
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
