// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// The sounds and doubled words of one language, and how it names marks: a file of `Tables`.
struct LanguageTable: Sendable {
    private let name: String
    let fillers, doubled: Set<String>
    /// Words that mean something, but for where commas part them from the sentence.
    let betweenCommas, takeBack: Phrases
    /// Marks that belong to the word before, with line breaks among them, and to the word behind.
    let marks, opening: Phrases

    private init(_ bytes: [UInt8]) throws(SettingsError) {
        var reader = SettingsReader(
            try SettingsDocument.parse(String(decoding: bytes, as: UTF8.self)))
        name = try reader.string("name") ?? ""
        fillers = Set(try reader.strings("fillers") ?? [])
        doubled = Set((try reader.strings("doubled") ?? []).map(RuledWord.key))
        betweenCommas = Phrases((try reader.strings("between-commas") ?? []).map { ($0, "") })
        takeBack = Phrases((try reader.strings("take-back") ?? []).map { ($0, "") })
        marks = Phrases((try reader.texts("marks") ?? []).map { ($0.name, $0.value) })
        opening = Phrases((try reader.texts("opening") ?? []).map { ($0.name, $0.value) })
        try reader.finish()
    }

    /// By their tags of two letters.
    private static let all: [String: LanguageTable] = [
        "de": PackageResources.de_toml, "en": PackageResources.en_toml,
        "es": PackageResources.es_toml, "fr": PackageResources.fr_toml,
            // A test reads all of them.
    ].compactMapValues { try? LanguageTable($0) }

    static let languages = all.keys.sorted()

    /// The table of a language, which services call "en", "en-US" or "english"; nil of any other.
    static func named(_ language: String?) -> LanguageTable? {
        tag(of: language).flatMap { all[$0] }
    }

    /// The tag of two or three letters that begins a language's name, or stands for it.
    static func tag(of language: String?) -> String? {
        guard let language = language?.lowercased(), !language.isEmpty else { return nil }
        return all.first { $0.value.name == language }?.key
            ?? String(language.prefix { $0 != "-" && $0 != "_" })
    }
}
