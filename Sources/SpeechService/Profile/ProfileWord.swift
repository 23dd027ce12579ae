// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// A word that a person says of a request, such as the language, and what is sent for it.
package struct ProfileWord: Sendable, Hashable {
    /// A value that a person says, and the one that the service knows.
    package struct Value: Sendable, Hashable {
        package var said: String
        package var sent: String
    }

    /// Words that need no description: a template that has them is enough.
    package static let usual = ["language", "model", "prompt"]
    /// Words whose values a person does not say; the take's name is filled in with each request.
    package static let fixed = ["rate": "16000", "take": TakeMark.text]

    package var name: String
    package var about: String?
    /// What counts when it is not said; nil is nothing.
    package var standard: String?
    /// Whether the service cannot be asked without it.
    package var isRequired = false
    /// What is sent for what is said; other values are sent as they are.
    package var values: [Value] = []
    package var isLimited = false
    /// Whether it may stand under a name that sounds like that of a secret.
    package var isPublic = false
    /// Whether slashes in it part the path in which it stands, as in `openai/whisper-large-v3`.
    package var isPath = false

    package init(name: String) { self.name = name }

    init(_ name: String, _ reader: inout SettingsReader) throws(SettingsError) {
        self.init(name: name)
        let place = reader.place(name)
        guard WordTemplate.isName(name) else {
            throw SettingsError(
                "'\(reader.path(name))' is no word: it is made of small letters, digits, '-' and '_'",
                at: place)
        }
        guard Self.fixed[name] == nil, name != "audio" else {
            throw SettingsError("'\(reader.path(name))' has a meaning of its own", at: place)
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
        isPublic = try table.flag("public") ?? false
        isPath = try table.flag("path") ?? false
        try table.finish()
        if isLimited, values.isEmpty {
            throw SettingsError("'\(reader.path(name)).only' needs values", at: place)
        }
    }

    /// What is sent.
    ///
    /// - Parameters:
    ///   - said: what a person says, or nil.
    ///   - service: what the service is called, for a message.
    /// - Throws: `ProfileError` when nothing is, and must be, or when the service has no such value.
    /// - Returns: the value, or nil for none.
    package func value(for said: String?, of service: String) throws(ProfileError) -> String? {
        guard let said = said ?? standard, !said.isEmpty else {
            guard !isRequired else { throw .missingWord(name, service: service) }
            return nil
        }
        if let known = values.first(where: { $0.said == said }) { return known.sent }
        // What the service itself calls it is understood too.
        guard isLimited, !values.contains(where: { $0.sent == said }) else { return said }
        throw .valueNotTaken(
            said, word: name, service: service, taken: values.map(\.said))
    }
}
