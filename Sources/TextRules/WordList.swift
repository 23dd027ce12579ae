// SPDX-License-Identifier: Apache-2.0

package import Settings

/// How words are to be written: for each word or phrase that a recogniser writes, the one that is meant.
///
/// A word is found where it stands by itself, whatever the case of its letters; a phrase where its words
/// follow each other, and no mark parts them. It is written as the list has it. In Chinese and Japanese,
/// whose words no space parts, a word is found anywhere.
public struct WordList: Sendable, Hashable {
    /// A word, and how it is written.
    public struct Entry: Sendable, Hashable {
        /// The language of the texts for which it counts, such as `en`; nil for all.
        public var language: String?
        /// The word or phrase as a recogniser writes it.
        public var said: String
        /// The one that is meant; an empty one leaves the word out.
        public var written: String

        /// Creates an entry, of all languages unless one is named.
        public init(_ said: String, _ written: String, language: String? = nil) {
            (self.said, self.written, self.language) = (said, written, language)
        }
    }

    /// In the order of the file; of two for the same word the last counts, and one for a language before
    /// one for all.
    public private(set) var entries: [Entry] = []
    /// By language; the empty one is of all others.
    private var phrases: [String: Phrases] = [:]
    private var inner: [String: [Entry]] = [:]

    /// Creates a list; a word that has no letter or digit is never found.
    public init(_ entries: [Entry] = []) {
        self.entries = entries
        let common = entries.filter { $0.language == nil }
        for language in Set(entries.compactMap(\.language) + [""]) {
            let own = common + entries.filter { $0.language == language }
            phrases[language] = Phrases(own.filter { !$0.isJoined }.map { ($0.said, $0.written) })
            let joined = Dictionary(own.filter(\.isJoined).map { ($0.said, $0) }) { $1 }
            // The longest first.
            inner[language] = joined.values.sorted { $0.said.count > $1.said.count }
        }
    }

    /// Whether the list has no word.
    public var isEmpty: Bool { entries.isEmpty }

    /// The words that are meant, each once.
    ///
    /// Commas separate the languages; words for all languages count, too.
    func vocabulary(in languages: String?) -> [String] {
        let tags =
            languages?.split(whereSeparator: { $0 == "," || $0 == " " })
            .map { LanguageTable.tag(of: String($0)) } ?? []
        var known: Set<String> = [""]
        return entries.filter { $0.language == nil || tags.contains($0.language) }.map(\.written)
            .filter { known.insert($0).inserted }
    }

    /// The words of the vocabulary that a service takes, in the order of the file; where it takes fewer
    /// than there are, those come first that `texts` use most, which are asked for in that case alone.
    package func vocabulary(
        in languages: String?, within limits: VocabularyLimits, texts: () -> [String]
    ) -> [String] {
        let words = vocabulary(in: languages).filter(limits.takes)
        let chosen = limits.prefix(of: words)
        guard chosen.count < words.count else { return chosen }
        return limits.prefix(of: Self.mostUsedFirst(words, in: texts()))
    }

    /// Puts those words first that texts use most; those that they use alike stay in their order.
    package static func mostUsedFirst(_ words: [String], in texts: [String]) -> [String] {
        var counts: [String: Int] = [:]
        let joined = words.filter { $0.unicodeScalars.contains(where: \.needsNoSpace) }
        // The longest first.
        let inner = Dictionary(grouping: joined.sorted { $0.count > $1.count }) { $0.first }
        let phrases = Phrases(Set(words).subtracting(joined).map { ($0, $0) })
        for text in texts {
            var signs = text[...]
            while !inner.isEmpty, let sign = signs.first {
                let found = inner[sign]?.first(where: signs.hasPrefix)
                if let found { counts[found, default: 0] += 1 }
                signs = signs.dropFirst(found?.count ?? 1)
            }
            var rest = RuledText(text).words[...]
            while !rest.isEmpty {
                let found = phrases.first(of: rest)
                if let found { counts[found.value, default: 0] += 1 }
                rest = rest.dropFirst(found?.words.count ?? 1)
            }
        }
        return words.enumerated().sorted { one, other in
            let (first, second) = (counts[one.element] ?? 0, counts[other.element] ?? 0)
            return first == second ? one.offset < other.offset : first > second
        }.map(\.element)
    }

    /// Reads a file: names are what is said, texts what is written, tables are of languages.
    package init(_ text: String) throws(SettingsError) {
        var entries: [Entry] = []
        for member in try SettingsDocument.parse(text).members {
            guard let table = member.node.value.table else {
                entries.append(try Self.entry(member, nil))
                continue
            }
            for inner in table.members { entries.append(try Self.entry(inner, member.name)) }
        }
        self.init(entries)
    }

    private static func entry(
        _ member: SettingsTable.Member, _ language: String?
    ) throws(SettingsError) -> Entry {
        guard let written = member.node.value.string else {
            throw SettingsError(
                "'\(member.name)' must be a string, not \(member.node.value.kind)",
                at: member.node.place)
        }
        let entry = Entry(member.name, written, inLanguage: language)
        guard let mistake = entry.mistake else { return entry }
        throw SettingsError("'\(member.name)': \(mistake)", at: member.place)
    }

    func apply(to text: inout RuledText, in language: String?) {
        guard !isEmpty else { return }
        let language = language.flatMap { phrases[$0] == nil ? nil : $0 } ?? ""
        if let phrases = phrases[language] {
            text.pass(phrases) { ruled, written, said, _ in
                ruled.write(written, for: said)
                return true
            }
        }
        guard let joined = inner[language], !joined.isEmpty else { return }
        text.pass { ruled, rest in
            guard let word = rest.first else { return 0 }
            ruled.keep(word, writing: joined)
            return 1
        }
    }
}

extension RuledText {
    /// Keeps a word with others for signs in it; what was written is not looked through again.
    fileprivate mutating func keep(_ word: RuledWord, writing entries: [WordList.Entry]) {
        var (word, rest) = (word, word.core[...])
        word.core = ""
        while let sign = rest.first {
            let entry = entries.first { rest.hasPrefix($0.said) }
            word.core += entry?.written ?? String(sign)
            rest = rest.dropFirst(entry?.said.count ?? 1)
            if let entry { note(TextChange(.words, entry.said, entry.written)) }
        }
        if !word.text.isEmpty { keep(word) }
    }
}

extension WordList.Entry {
    /// A word for texts in a language that a person, or a service, has named.
    package init(_ said: String, _ written: String, inLanguage name: String?) {
        self.init(said, written, language: name.map { LanguageTable.tag(of: $0) ?? "" })
    }

    /// Equal where two entries are about the same word.
    package var subject: [String] { [language ?? ""] + RuledWord.keys(said) }

    /// In characters.
    private static let limit = 200

    fileprivate var isJoined: Bool { said.unicodeScalars.contains(where: \.needsNoSpace) }

    /// Why it would never be found, or do harm; nil when it is right.
    package var mistake: String? {
        if let language, !(2...3).contains(language.count) || !language.allSatisfy(\.isLetter) {
            return "a language is written as de or en is, and not as '\(language)'"
        }
        let keys = RuledWord.keys(said)
        if keys.isEmpty || keys.contains("") { return "a word has letters or digits" }
        if said.count > Self.limit || written.count > Self.limit {
            return "a word has at most \(Self.limit) characters"
        }
        let isPlain = !(said + written).unicodeScalars.contains {
            $0.properties.generalCategory == .control
        }
        return isPlain ? nil : "a word has no control characters"
    }
}
