// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
package import Settings
package import SpeechService

/// What the person's file says of one service: a table `services.NAME`.
package struct ServiceSettings: Sendable {
    package var name: String
    /// The profile that describes the service; usually that of the same name.
    package var profile: String
    /// Where the file names the service, or the profile.
    package var place: SettingsPlace?
    package var url: Configuration.Entry?
    /// Where the token comes from, instead of where the profile says.
    package var token: SecretSource?
    /// The member that says so, and where it stands.
    var tokenEntry: (key: String, entry: Configuration.Entry)?
    /// Whether the token may travel over plain http to another machine.
    package var allowsTokenInClear = false
    package var format: Configuration.Entry?
    /// What is said for its words, `language`, `model` and `prompt` among them.
    package var words: [String: Configuration.Entry] = [:]

    /// The words that have members of their own.
    package static let usualWords = ["language", "model", "prompt"]

    init(_ name: String, _ reader: inout SettingsReader) throws(SettingsError) {
        self.name = name
        let entry = try Self.entry("profile", &reader)
        profile =
            entry.map {
                Profiles.isPath($0.text) ? ConfigurationFile.expanded($0.text) : $0.text
            } ?? name
        place = entry?.place
        url = try Self.entry("url", &reader)
        format = try Self.entry("format", &reader)
        if let format, AudioCodec(rawValue: format.text) == nil {
            throw SettingsError(
                "'\(reader.path("format"))' is '\(format.text)', which is not \(AudioCodec.names)",
                at: format.place)
        }
        allowsTokenInClear = try reader.flag("insecure-token") ?? false
        for word in Self.usualWords { words[word] = try Self.entry(word, &reader) }
        for word in try reader.texts("words") ?? [] {
            words[word.name] = Configuration.Entry(text: word.value, place: word.place)
        }
        try readToken(&reader)
        try reader.finish()
    }

    private mutating func readToken(_ reader: inout SettingsReader) throws(SettingsError) {
        try Self.refuseSecrets(in: reader, alsoNamed: ["key"])
        let sources: [(key: String, source: (String) -> SecretSource)] = [
            ("token-file", { .file(ConfigurationFile.expanded($0)) }),
            ("token-command", { .command($0) }), ("token-variable", { .variable($0) }),
            ("token-credential", { .credential($0) }),
        ]
        var first: String?
        for (key, source) in sources {
            guard let entry = try Self.entry(key, &reader) else { continue }
            if let first {
                throw SettingsError(
                    "'\(reader.path(key))' and '\(first)' exclude each other", at: entry.place)
            }
            first = key
            (token, tokenEntry) = (source(entry.text), (key, entry))
        }
    }

    /// Demands that a table holds no secret itself.
    static func refuseSecrets(
        in reader: SettingsReader, alsoNamed names: [String] = []
    ) throws(SettingsError) {
        for key in ["token", "api-key", "api_key", "apikey", "secret"] + names {
            guard let place = reader.place(key) else { continue }
            let table = reader.path("").isEmpty ? "services.NAME." : ""
            throw SettingsError(
                "'\(reader.path(key))' would hold the secret itself; say where it is with "
                    + "\(table)token-file, token-command or token-variable",
                at: place)
        }
    }

    package var members: [(name: String, entry: Configuration.Entry)] {
        var members: [(name: String, entry: Configuration.Entry)] = []
        if let url { members.append(("url", url)) }
        if let tokenEntry { members.append((tokenEntry.key, tokenEntry.entry)) }
        if let format { members.append(("format", format)) }
        for (word, entry) in words.sorted(by: { $0.key < $1.key }) {
            members.append(
                (Self.usualWords.contains(word) ? word : "words.\(TOMLText.key(word))", entry))
        }
        return members.map { ("services.\(TOMLText.key(name)).\($0.name)", $0.entry) }
    }

    private static func entry(
        _ key: String, _ reader: inout SettingsReader
    ) throws(SettingsError) -> Configuration.Entry? {
        guard let text = try reader.string(key), let place = reader.place(key) else { return nil }
        guard !text.isEmpty else {
            throw SettingsError("'\(reader.path(key))' is empty", at: place)
        }
        return Configuration.Entry(text: text, place: place)
    }
}
