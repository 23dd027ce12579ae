// SPDX-License-Identifier: Apache-2.0

/// A text in which `{word}` stands for what is said of a request, such as `{language}`.
///
/// A word is made of small letters, digits, `-` and `_`, and begins with a letter; any other brace is
/// a brace.
package struct WordTemplate: Sendable, Hashable {
    package enum Part: Sendable, Hashable {
        case text(String)
        case word(String)
    }

    package let text: String
    let parts: [Part]

    package init(_ text: String) {
        self.text = text
        var parts: [Part] = []
        var plain = ""
        var rest = text[...]
        while let first = rest.first {
            if first == "{", let word = Self.word(at: rest) {
                if !plain.isEmpty { parts.append(.text(plain)) }
                parts.append(.word(String(word)))
                plain = ""
                rest = rest[word.endIndex...].dropFirst()
            } else {
                plain.append(first)
                rest = rest.dropFirst()
            }
        }
        if !plain.isEmpty { parts.append(.text(plain)) }
        self.parts = parts
    }

    /// In order, with repetitions.
    var words: [String] {
        parts.compactMap { part in
            if case .word(let name) = part { name } else { nil }
        }
    }

    /// Stands between the values of a word that is a list; alone it is a list without any.
    static let separator: Character = "\u{1F}"

    /// The value of a word where one text is wanted: those of a list with commas between them.
    static func plain(_ value: String?) -> String? {
        value == "\(separator)" ? nil : value?.replacing("\(separator)", with: ",")
    }

    /// Fills in the words, once for each value of one that is a list; empty when one has no value.
    func all(by values: [String: String]) -> [String] {
        Self.each(of: words, in: values).compactMap { filled(by: $0) }
    }

    /// The words for each value of the first of some that is a list.
    static func each(of names: [String], in values: [String: String]) -> [[String: String]] {
        let list = names.first { values[$0]?.contains(separator) == true }
        guard let list, let all = values[list]?.split(separator: separator) else { return [values] }
        return all.map { values.merging([list: String($0)]) { $1 } }
    }

    /// Fills in the words; nil when one of them has no value.
    func filled(by values: [String: String]) -> String? {
        var filled = ""
        for part in parts {
            switch part {
            case .text(let text): filled += text
            case .word(let name):
                guard let value = Self.plain(values[name]) else { return nil }
                filled += value
            }
        }
        return filled
    }

    /// A word without a value stays as it is.
    func filled(_ value: (String) -> String?) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .word(let name): value(name) ?? "{\(name)}"
            }
        }.joined()
    }

    package static func isName(_ text: some StringProtocol) -> Bool {
        guard let first = text.utf8.first, (0x61...0x7A).contains(first) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
    }

    private static func word(at rest: Substring) -> Substring? {
        let inside = rest.dropFirst()
        guard let end = inside.firstIndex(where: { $0 == "}" || $0 == "{" }), inside[end] == "}"
        else { return nil }
        let name = inside[..<end]
        return isName(name) ? name : nil
    }
}
