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

    /// Words that mean the program where a text ends with them, such as "stop listening"; nil: none.
    public var stopWord: String?

    /// Creates rules of which none is wanted.
    public init() {}

    package var isEmpty: Bool {
        words.isEmpty && !dropsFillers && !writesMarks && !takesBack && stopWord == nil
    }

    package func applied(to text: RuledText, in language: String?) -> RuledText {
        var text = text
        if let stopWord { text.dropEnd(RuledWord.keys(stopWord)) }
        if let table = LanguageTable.named(language) {
            if dropsFillers { text.dropFillers(table) }
            if writesMarks {
                text.pass { ruled, rest in
                    if let (mark, said) = table.opening.first(of: rest) {
                        ruled.open(mark, for: said)
                        return said.count
                    }
                    guard let (mark, said) = table.marks.first(of: rest),
                        ruled.mark(mark, for: said)
                    else { return ruled.keepFirst(of: rest) }
                    return said.count
                }
            }
            if takesBack {
                text.pass { ruled, rest in
                    guard let (_, said) = table.takeBack.first(of: rest) else {
                        return ruled.keepFirst(of: rest)
                    }
                    ruled.takeBack(by: said)
                    return said.count
                }
            }
        }
        words.apply(to: &text, in: LanguageTable.tag(of: language))
        return text
    }
}

extension RuledText {
    mutating func keepFirst(of rest: ArraySlice<RuledWord>) -> Int {
        if let first = rest.first { keep(first) }
        return 1
    }

    fileprivate mutating func dropFillers(_ table: LanguageTable) {
        pass { ruled, rest in
            guard let word = rest.first else { return 0 }
            let follows = ruled.words.last
            // A unit of measurement may be written as one.
            let isCounted = follows?.core.last?.isNumber == true && follows?.trail.isEmpty == true
            if table.fillers.contains(word.key), !word.isUpper, !isCounted {
                ruled.drop(rest.prefix(1), by: .fillers)
                return 1
            }
            if follows?.trail == ",", let (_, said) = table.betweenCommas.first(of: rest),
                said.last?.trail == ","
            {
                ruled.drop(said, by: .fillers)
                return said.count
            }
            return ruled.keepFirst(of: rest)
        }
        pass { ruled, rest in
            guard let word = rest.first, let before = ruled.words.last, word.key == before.key,
                table.doubled.contains(word.key), before.trail.isEmpty, word.lead.isEmpty,
                // "Vitamin A a day" has two words there.
                word.core == before.core || ruled.words.dropLast().last?.endsSentence ?? true
            else { return ruled.keepFirst(of: rest) }
            ruled.merge(word, by: .doubled)
            return 1
        }
    }
}
