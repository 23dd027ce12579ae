// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
package import Settings
package import SpeechService

/// The settings of one service in the person's file: a table `services.NAME`.
///
/// It may say all fields of a profile, which then count over the profile, and has names of its own
/// for what is usual.
package struct ServiceSettings: Sendable {
    package let name: String
    package let table: SettingsTable
    /// The profile that describes the service; usually that of the same name.
    package let profile: String
    package internal(set) var place: SettingsPosition?
    package let url: Configuration.Entry?
    /// Where the token comes from, instead of where the profile says.
    package private(set) var token: SecretSource?
    private var tokenKey: String?
    /// Whether the token may travel over plain http to another machine.
    package private(set) var allowsTokenInClear = false
    package let format: Configuration.Entry?
    package private(set) var words: [String: Configuration.Entry] = [:]
    /// The fields of the profile that are said, each a line of TOML.
    private var fields: [(path: String, line: String, place: SettingsPosition)] = []

    private static let tokenKinds = ["file", "command", "variable", "credential"]

    init(_ name: String, _ reader: inout SettingsReader) throws(SettingsError) {
        (self.name, table) = (name, reader.table)
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
                "'\(reader.path("format"))' is '\(format.text)', but must be \(AudioCodec.names)",
                at: format.place)
        }
        for word in ProfileWord.usual { words[word] = try Self.entry(word, &reader) }
        for word in try reader.texts("words") ?? [] {
            words[word.name] = Configuration.Entry(text: word.value, place: word.place)
        }
        try readToken(&reader)
        for key in Set(ProfileKey.all.map { $0.path.prefix { $0 != "." } }).sorted()
        where !["url", "words"].contains(key) {
            guard let node = reader.node(String(key)) else { continue }
            try add(String(key), node, at: node.place)
        }
        // Its own name for the field goes before that.
        allowsTokenInClear = try reader.flag("insecure-token") ?? allowsTokenInClear
        try reader.finish()
    }

    private mutating func readToken(_ reader: inout SettingsReader) throws(SettingsError) {
        try Self.refuseSecrets(in: reader, alsoNamed: ["key"])
        for kind in Self.tokenKinds {
            let key = "token-\(kind)"
            guard let entry = try Self.entry(key, &reader) else { continue }
            try setToken(kind, entry.text, from: key, at: entry.place)
        }
    }

    private mutating func setToken(
        _ kind: String, _ text: String, from key: String, at place: SettingsPosition
    ) throws(SettingsError) {
        if let tokenKey {
            throw SettingsError(
                "'services.\(name).\(key)' and '\(tokenKey)' cannot be used together", at: place)
        }
        tokenKey = key
        token =
            switch kind {
            case "file": .file(ConfigurationFile.expanded(text))
            case "command": .command(text)
            case "variable": .variable(text)
            default: .credential(text)
            }
    }

    private mutating func add(
        _ path: String, _ node: SettingsNode, at place: SettingsPosition
    ) throws(SettingsError) {
        if case .table(let inner) = node.value,
            ProfileKey.all.contains(where: { $0.path.hasPrefix(path + ".") })
        {
            for member in inner.members {
                try add("\(path).\(member.name)", member.node, at: member.place)
            }
            return
        }
        let shown = "services.\(name).\(path)"
        guard let key = ProfileKey.named(path) else {
            let last = path.split(separator: ".").last.map(String.init) ?? path
            if SecretName.isSecret(last) { throw Self.secret(shown, in: "", at: place) }
            let near = ProfileKey.question(about: path)
            throw SettingsError("'\(shown)' is not known\(near)", at: place)
        }
        var value = node.value
        if case .string(let text) = value {
            // It belongs to where this service is, and not to where the profile's is.
            let kind = String(path.dropFirst(5))
            if path.hasPrefix("auth."), Self.tokenKinds.contains(kind) {
                guard !text.isEmpty else { throw SettingsError("'\(shown)' is empty", at: place) }
                return try setToken(kind, text, from: path, at: place)
            }
            if key.form == .path { value = .string(ConfigurationFile.expanded(text)) }
        }
        if path == "transfer.insecure-token" { allowsTokenInClear = value == .flag(true) }
        fields.append((path, key.line(for: path, literal: TOMLText.literal(value)), place))
    }

    /// Whether something is said for a field of the profile, or for one of a table.
    package func says(_ path: String) -> Bool {
        fields.contains { $0.path == path || $0.path.hasPrefix(path + ".") }
    }

    /// The profile with what is said here over it; an error has its place in the person's file.
    package func laid(over profile: ServiceProfile) throws(SettingsError) -> ServiceProfile {
        guard !fields.isEmpty else { return profile }
        let own = ProfileText(
            overriding: fields.map(\.line).joined(separator: "\n"), place: "services.\(name)")
        do throws(SettingsError) {
            return try ServiceProfile(texts: [own] + profile.texts)
        } catch {
            // A field that misses something else is named by the first one.
            throw SettingsError(
                error.reason, at: error.place.flatMap { self.place(of: $0) } ?? fields[0].place)
        }
    }

    /// Where a field stands in the file, by its place in what is said over the profile, in which each
    /// has a line; nil for a place elsewhere.
    func place(of place: SettingsPosition) -> SettingsPosition? {
        guard place.file == "services.\(name)", fields.indices.contains(place.line - 1)
        else { return nil }
        return fields[place.line - 1].place
    }

    static func refuseSecrets(
        in reader: SettingsReader, alsoNamed names: [String] = []
    ) throws(SettingsError) {
        for key in ["token", "api-key", "api_key", "apikey", "secret"] + names {
            guard let place = reader.place(key) else { continue }
            let table = reader.path("").isEmpty ? "services.NAME." : ""
            throw secret(reader.path(key), in: table, at: place)
        }
    }

    private static func secret(
        _ path: String, in table: String, at place: SettingsPosition
    ) -> SettingsError {
        SettingsError(
            "'\(path)' must not hold a secret; say where it is with "
                + "\(table)token-file, token-command or token-variable", at: place)
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
