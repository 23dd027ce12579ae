// SPDX-License-Identifier: Apache-2.0

/// The rules that a text goes through before it goes anywhere.
///
/// Each is left out unless it is wanted. A rule changes only the places that it knows: what it cannot
/// read stays as it is. All of them together take time that grows with the length of the text.
public struct TextRules: Sendable, Hashable {
    /// How words are to be written.
    public var words = WordList()
    /// Whether sounds such as "um" and doubled words such as "the the" are left out, of a text whose
    /// language is known.
    public var dropsFillers = false
    /// Whether "comma" and "new line" become what they name, of such a text.
    public var writesMarks = false
    /// Whether "scratch that" takes back the sentence before it, of such a text.
    public var takesBack = false

    /// The language of texts of which neither the service nor what was said to it names one; nil: none.
    public var language: String?

    /// Words that mean the program where a text ends with them, such as "stop listening"; nil: none.
    public var stopWord: String?

    /// Creates rules of which none is wanted.
    public init() {}

    package var isEmpty: Bool {
        words.isEmpty && !dropsFillers && !writesMarks && !takesBack && stopWord == nil
    }

    package func applied(to text: RuledText, in language: String?) -> RuledText {
        var text = text
        let language = language ?? self.language
        if let stopWord { text.dropEnd(RuledWord.keys(stopWord)) }
        if let table = LanguageTable.named(language) {
            if dropsFillers { text.dropFillers(table) }
            if writesMarks {
                text.pass(table.opening) { ruled, mark, said, _ in ruled.open(mark, for: said) }
                text.pass(table.marks) { ruled, mark, said, next in
                    ruled.mark(mark, for: said, before: next)
                }
            }
            if takesBack {
                text.pass(table.takeBack) { ruled, _, said, next in
                    // "From scratch that day" means what it says.
                    guard ruled.words.last?.trail.isEmpty != true,
                        next == nil || said.last?.trail.isEmpty == false
                    else { return false }
                    ruled.takeBack(by: said)
                    return true
                }
            }
        }
        words.apply(to: &text, in: LanguageTable.tag(of: language))
        return text
    }
}

extension RuledText {
    /// Has a rule deal with each place of these phrases, or leave it as it is.
    mutating func pass(
        _ phrases: Phrases,
        _ rule: (inout RuledText, String, ArraySlice<RuledWord>, _ next: RuledWord?) -> Bool
    ) {
        pass { ruled, rest in
            let found = phrases.first(of: rest)
            let said = found?.words ?? rest.prefix(1)
            if let found, rule(&ruled, found.value, said, rest.dropFirst(said.count).first) {
                return said.count
            }
            for word in said { ruled.keep(word) }
            return said.count
        }
    }

    fileprivate mutating func dropFillers(_ table: LanguageTable) {
        pass { ruled, rest in
            guard let word = rest.first else { return 0 }
            let follows = ruled.words.last
            // A unit of measurement may be written as one.
            let isCounted = follows?.core.last?.isNumber == true && follows?.trail.isEmpty == true
            if table.fillers.contains(word.key), !word.isUpper, !word.isQuoted, !isCounted {
                ruled.drop(rest.prefix(1), by: .fillers)
                return 1
            }
            if follows?.trail == ",", let (_, said) = table.betweenCommas.first(of: rest),
                said.last?.trail == ","
            {
                ruled.drop(said, by: .fillers)
                return said.count
            }
            ruled.keep(word)
            return 1
        }
        pass { ruled, rest in
            guard let word = rest.first else { return 0 }
            // "The The" is a band.
            if let before = ruled.words.last, word.key == before.key, !word.beginsUpper,
                table.doubled.contains(word.key), before.trail.isEmpty, word.lead.isEmpty
            {
                ruled.merge(word, by: .doubled)
            } else {
                ruled.keep(word)
            }
            return 1
        }
    }
}
