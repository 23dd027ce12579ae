// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// A word that a person says of a request, such as the language, and what is sent for it.
public struct ProfileWord: Sendable, Hashable {
    struct Value: Sendable, Hashable {
        var said: String
        var sent: String
    }

    /// A template may use them without a description.
    package static let usual = ["language", "model", "prompt"]
    /// The words that a person uses, where the service takes a list of them.
    package static let vocabulary = "vocabulary"
    /// Each request fills in the take's name.
    static let fixed = ["rate": "16000", "take": TakeMark.text, "brace": "{"]
    /// The prompt, and behind it the end of the text that was heard before a part of a recording.
    static let tail = "tail"

    /// The word's name, such as `language`.
    public internal(set) var name: String
    /// The purpose of the word.
    public internal(set) var about: String?
    /// The value of a word that is not said; nil: none.
    public package(set) var standard: String?
    /// Whether the service cannot be asked without it.
    public internal(set) var isRequired = false
    /// The service's value for each spoken one; others are sent unchanged.
    var values: [Value] = []
    var isLimited = false
    /// An example of how the service writes languages, such as `en`, `en-us` or `en_US`.
    var form: String?
    /// May be used under a name like a secret's.
    var isPublic = false
    /// The most values of a word that is a list, which commas separate; nil of any other.
    package private(set) var most: Int?
    /// Whether its slashes separate path segments, as in `openai/whisper-large-v3`.
    var isPath = false

    /// The values that the word takes; empty when it takes any.
    public var choices: [String] { isLimited ? values.map(\.said) : [] }

    /// In the person's or the service's spelling.
    package func takes(_ value: String) -> Bool {
        if most != nil, value.contains(",") { return items(value).allSatisfy(takes) }
        return !isLimited || values.contains { $0.said == value || $0.sent == value }
    }

    private func items(_ value: String) -> [String] {
        value.split(separator: ",").map { $0.split(separator: " ").joined(separator: " ") }
            .filter { !$0.isEmpty }
    }

    init(name: String) { self.name = name }

    init(_ name: String, _ reader: inout SettingsReader) throws(SettingsError) {
        self.init(name: name)
        guard WordTemplate.isName(name) else {
            throw reader.error(
                name, " cannot be a word: it is made of small letters, digits, '-' and '_'")
        }
        guard Self.fixed[name] == nil, name != "audio", name != Self.tail else {
            throw reader.error(name, " has a meaning of its own")
        }
        if case .string(let text)? = reader.node(name)?.value {
            standard = text
            return
        }
        guard var table = try reader.table(name) else { return }
        about = try table.string("about")
        standard = try table.string("default")
        isRequired = try table.flag("required") ?? false
        values = try (table.texts("values") ?? []).map { Value(said: $0.name, sent: $0.value) }
        isLimited = try table.flag("only") ?? false
        form = try table.string("form")
        isPublic = try table.flag("public") ?? false
        isPath = try table.flag("path") ?? false
        most = try table.integer("list")
        guard most.map({ (1...10_000).contains($0) }) ?? true else {
            throw table.error("list", " is from 1 to 10000")
        }
        try table.finish()
        if isLimited, values.isEmpty {
            throw SettingsError(
                "'\(reader.path(name)).only' needs values", at: reader.place(name))
        }
    }

    /// A language tag (RFC 5646) written like the example; any other text as it is.
    private static func language(_ said: String, like form: String?) -> String {
        let isMark = { (character: Character) in character == "-" || character == "_" }
        let parts = said.split(whereSeparator: isMark)
        guard let form, parts.count > 1, (2...3).contains(parts[0].count),
            parts.allSatisfy({ $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } })
        else { return said }
        let first = parts[0].lowercased()
        guard let mark = form.first(where: isMark) else { return first }
        let isUpper = form.last?.isUppercase ?? false
        return parts.dropFirst().reduce(first) { text, part in
            text + "\(mark)"
                + (part.count > 3 ? String(part) : isUpper ? part.uppercased() : part.lowercased())
        }
    }

    package func value(for said: String?, of service: String) throws(ProfileError) -> String? {
        guard let said = said ?? standard, !said.isEmpty else {
            guard !isRequired else { throw .missingWord(name, service: service) }
            return nil
        }
        if let most, said.contains(",") {
            var values: [String] = []
            for item in items(said).prefix(most) {
                if let value = try value(for: item, of: service) { values.append(value) }
            }
            return values.joined(separator: "\(WordTemplate.separator)")
        }
        let formed = Self.language(said, like: form)
        let known = values.first { $0.said == said } ?? values.first { $0.said == formed }
        if let known { return known.sent }
        guard !takes(said) else { return formed }
        throw .valueNotTaken(
            said, word: name, service: service, taken: values.map(\.said))
    }
}

/// Stands for the take's name in what a profile sends: the same in each attempt, so that two
/// requests are known to be about one recording.
package enum TakeMark {
    package static let text = "{take}"

    package static func filled(_ bytes: [UInt8], by id: String) -> [UInt8] {
        bytes.replacing(Array(text.utf8), with: Array(id.utf8))
    }

    package static func filled(_ fields: [HeaderField], by id: String) -> [HeaderField] {
        fields.map { field in
            HeaderField(
                checkedName: field.name, value: field.value.replacing(text, with: id))
        }
    }
}
