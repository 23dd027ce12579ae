// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs

/// A delivery in the words of a profile: the value of each field in TOML, by its path.
///
/// The lines in which two of them differ are a text that lies over the profile of the other.
package struct ProfileFields: Sendable {
    /// TOML values, by the paths of their fields.
    private var literals: [String: String] = [:]
    /// In the order in which they were said.
    private var paths: [String] = []

    package init() {}

    /// Says a field; nil takes it away, as `false` does.
    package mutating func say(_ path: String, _ literal: String?) {
        if literals[path] == nil { paths.append(path) }
        literals[path] = literal ?? "false"
    }

    package mutating func say(_ path: String, text: String?) {
        say(path, text.map(TOMLText.quoted))
    }

    package mutating func say(_ path: String, _ flag: Bool) { say(path, "\(flag)") }

    package mutating func say(_ path: String, texts: [String]?) {
        say(path, texts.map { Self.list($0.map(TOMLText.quoted)) })
    }

    /// Times within the bounds that a profile has for them: from a millisecond, or from nothing, to a day.
    package mutating func say(_ path: String, _ time: Duration, allowsZero: Bool = false) {
        say(path, Self.seconds(time, allowsZero: allowsZero))
    }

    package mutating func say(_ path: String, _ times: [Duration]) {
        say(path, Self.list(times.map { Self.seconds($0, allowsZero: true) }))
    }

    private static func seconds(_ time: Duration, allowsZero: Bool) -> String {
        "\(min(max(time / .seconds(1), allowsZero ? 0 : 0.001), 86_400))"
    }

    private static func list(_ literals: [String]) -> String {
        "[\(literals.joined(separator: ", "))]"
    }

    /// Says the fields of a table whose names are free, such as `headers`; several may have one name.
    package mutating func say(
        _ table: String, _ fields: [(name: String, value: String, contentType: String?)]
    ) {
        for name in fields.map(\.name) {
            let values = fields.filter { $0.name == name }.map { field in
                let value = Self.escaped(field.value)
                return field.contentType.map {
                    "{ text = \(value), content-type = \(TOMLText.quoted($0)) }"
                } ?? value
            }
            // An empty text alone takes a field away.
            let isOne = values.count == 1 && values[0] != "\"\""
            say("\(table).\(TOMLText.key(name))", isOne ? values[0] : Self.list(values))
        }
    }

    /// A text in which braces stand for themselves but around the marks that each request fills.
    static func escaped(_ text: String, keeping marks: [String] = ["take"]) -> String {
        let parts = WordTemplate(text).parts.map { part in
            switch part {
            case .text(let text): text
            case .word(let name): marks.contains(name) ? "{\(name)}" : "{brace}\(name)}"
            }
        }
        return TOMLText.quoted(parts.joined())
    }

    /// A form of audio that a profile does not have, with the words of the one that was chosen.
    package static func form(_ codec: AudioCodec, like use: ProfileUse?) -> String {
        let words = (use?.format.words ?? [:]).sorted { $0.key < $1.key }
            .map { "\(TOMLText.key($0.key)) = \(TOMLText.quoted($0.value))" }
        let name = TOMLText.quoted(codec.name)
        return "{ codec = \(name), words = { \(words.joined(separator: ", ")) } }"
    }

    /// The lines of what is said otherwise than `other` says it.
    package func lines(over other: ProfileFields = ProfileFields()) -> [String] {
        let gone = other.paths.filter { literals[$0] == nil && Self.isOfFreeTable($0) }
        return paths.filter { literals[$0] != other.literals[$0] }
            .map { "\($0) = \(literals[$0] ?? "")" } + gone.map { "\($0) = \"\"" }
    }

    private static func isOfFreeTable(_ path: String) -> Bool {
        ["headers.", "body.fields."].contains { path.hasPrefix($0) }
    }
}

extension RecognitionService {
    /// The description of a request, without secrets; `base` names the parameters that its profile says.
    package func fields(over base: RecognitionService) -> ProfileFields {
        var fields = ProfileFields()
        sayURL(over: base, in: &fields)
        fields.say("method", text: method.rawValue)
        // A profile may send a public word in a field that is named like a secret.
        let open = headers.filter { !SecretName.isSecret($0.name) || base.headers.contains($0) }
        fields.say("headers", open.map { ($0.name, $0.value, nil) })
        // An empty text takes away what the form of the audio says, too.
        fields.say("body.content-type", contentType.map { ProfileFields.escaped($0) } ?? "\"\"")
        var body = body
        // Parts are of the audio alone.
        if case .parts = exchange { body = .raw }
        switch body {
        case .raw: fields.say("body.kind", text: BodyPlan.Kind.raw.rawValue)
        case .form(let form):
            fields.say("body.kind", text: BodyPlan.Kind.form.rawValue)
            fields.say("body.fields", form.fields.map { ($0.name, $0.value, $0.contentType) })
            fields.say("body.file-field", text: form.fileField)
            fields.say("body.file-name", text: form.fileName ?? "")
        case .json(let template):
            fields.say("body.kind", text: BodyPlan.Kind.json.rawValue)
            fields.say(
                "body.template", ProfileFields.escaped(template.text, keeping: ["audio", "take"]))
        }
        if let token = authentication.token { fields.say("auth.optional", !token.isRequired) }
        fields.say("transfer.endpointing", detectsEnd)
        connection.say(in: &fields)
        return fields
    }

    /// A parameter that holds a secret is named without its value.
    private func sayURL(over base: RecognitionService, in fields: inout ProfileFields) {
        let secrets = straySecrets(over: base)
        let clean = secrets.reduce(url) { $0.settingParameter($1, to: "") }
        let names = credentials.compactMap(\.place.parameter) + secrets
        var own = clean.dividingQuery(keeping: Set(names)).query
        let query = base.ownQuery.map(\.text).joined(separator: "&")
        guard !query.isEmpty, own == query || own.hasSuffix("&" + query) else {
            for parameter in base.ownQuery {
                fields.say("query.\(TOMLText.key(parameter.field))", text: "")
            }
            return fields.say("url", text: clean.withoutBraces)
        }
        // The profile goes on saying its own.
        own = String(own.dropLast(query.utf8.count))
        let items = own.split(separator: "&").map(String.init) + names.map { "\($0)=" }
        let path = clean.withoutBraces.prefix { $0 != "?" }
        fields.say("url", text: path + (items.isEmpty ? "" : "?" + items.joined(separator: "&")))
    }

    /// Where secrets stand that a program has written beside `credentials`: no text may hold them.
    package func strayPlaces(over base: RecognitionService) -> [Credential.Place] {
        let fields = headers.filter { SecretName.isSecret($0.name) && !base.headers.contains($0) }
        let places =
            fields.map { Credential.Place.header($0.name) }
            + straySecrets(over: base).map { .query($0) }
        return places.filter { place in !credentials.contains { $0.place.isSame(as: place) } }
    }

    /// The parameters of the URL that hold a secret, by their names.
    private func straySecrets(over base: RecognitionService) -> [String] {
        url.withoutSecrets().secrets.filter { secret in
            !base.ownQuery.contains { $0.text == "\(secret.name)=\(secret.value)" }
        }.map(\.name)
    }
}

extension ServiceURL {
    /// The text of the URL, in which a profile finds no word.
    package var withoutBraces: String {
        text.replacing("{", with: "%7B").replacing("}", with: "%7D")
    }
}

extension ConnectionSettings {
    fileprivate func say(in fields: inout ProfileFields) {
        fields.say("connection.http", text: http.rawValue)
        fields.say("connection.proxy", text: proxy?.description)
        fields.say("connection.no-proxy", texts: proxyExceptions)
        fields.say("connection.ca-file", text: certificateFile)
        fields.say("connection.client-certificate", text: clientCertificate)
        fields.say("connection.client-key", text: clientKey)
        fields.say("connection.minimum-tls", text: minimumTLS.rawValue)
        fields.say("connection.pinned-key", texts: pinnedKeys.map(\.description))
        fields.say("connection.ip", text: addresses?.rawValue)
        fields.say("connection.resolve", texts: resolutions.map(\.description))
    }
}
