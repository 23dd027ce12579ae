// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Settings

package struct AuthenticationPlan: Sendable, Hashable {
    /// Where a secret goes in a request, and where it comes from by default.
    package struct Part: Sendable, Hashable {
        package internal(set) var place: Credential.Place
        package internal(set) var form = SecretForm.plain
        /// The default source; nil when only a person can name one.
        package var source: SecretSource?
        package var isRequired = true
    }

    package enum Use: Sendable, Hashable {
        case asTheyAre
        /// The secrets buy a token, which is sent instead.
        case token(TokenExchange)
        /// Version 4 of Amazon's signatures, without the body.
        case amazonSignature(region: String, service: String)
    }

    /// The first is called the token.
    package var parts: [Part] = []
    package private(set) var use = Use.asTheyAre

    /// The parts' sources belong to it; nil when none is named.
    package var origin: Origin?

    /// `Authorization: Bearer …` (RFC 6750 §2.1), optional.
    static let bearer = AuthenticationPlan(
        parts: [Part(place: .header("Authorization"), form: .bearer, isRequired: false)])

    /// Whether the parts' sources may be asked for a service there.
    package func belongs(to other: Origin) -> Bool { origin == nil || origin == other }

    /// The first part; nil for a service without secrets.
    package var token: Part? {
        get { parts.first }
        set { if let newValue, !parts.isEmpty { parts[0] = newValue } }
    }
}

extension AuthenticationPlan {
    private static let fields = [
        "scheme", "header", "form", "parameter", "user", "region", "service", "exchange",
        "session", "variable", "file", "command", "credential", "optional",
    ]

    enum Kind: String, CaseIterable {
        case none, bearer, scheme, header, query, basic
        case awsV4 = "aws-sigv4"
    }

    init(_ reader: inout SettingsReader) throws(SettingsError) {
        let said = try reader.word("kind", as: Kind.self)
        // A field that only one kind has names that kind.
        let meant: Kind? =
            reader.place("header") != nil
            ? .header : reader.place("scheme") != nil ? .scheme : nil
        let kind = said ?? meant ?? .bearer
        // Fields of another kind in an extended profile say nothing here.
        let own = reader.place("kind")
        for key in Self.fields where reader.place(key).map({ $0.file != own?.file }) ?? false {
            guard own != nil else { break }
            _ = reader.node(key)
        }
        guard kind != .none else { return }
        let user = try Self.user(&reader)
        var token = Part(place: .header("Authorization"))
        switch kind {
        case .none: break
        case .bearer: token.form = .bearer
        case .scheme:
            _ = try Self.needed("scheme", &reader)
            token.form = try reader.string("scheme", as: Self.form(behind:)) ?? token.form
        case .header:
            token.place = .header(try Self.header(&reader))
            token.form = try reader.string("scheme", as: Self.form(behind:)) ?? token.form
            token.form = try reader.string("form", as: SecretForm.init(_:)) ?? token.form
        case .query:
            token.place = .query(try Self.needed("parameter", &reader))
            token.form = .percentEncoded
        case .basic:
            token.form = SecretForm(unchecked: "Basic {base64}")
            if case .name(let name)? = user { token.form = .basic(user: name) }
        case .awsV4:
            use = .amazonSignature(
                region: try Self.needed("region", &reader),
                service: try Self.needed("service", &reader))
        }
        try readExchange(&reader, of: token)
        if use != .asTheyAre { (token.place, token.form) = (.part("key"), .plain) }
        token.source = try Self.source(&reader)
        token.isRequired = try reader.flag("optional") != true
        parts = [token]
        if case .secret(let source)? = user {
            guard use != .asTheyAre else {
                throw reader.error("user", " must be a string here")
            }
            parts.append(Part(place: .part("user"), source: source))
        }
        let session = try reader.table("session") { table throws(SettingsError) in
            let isRequired = try table.flag("optional") != true
            return Part(
                place: .part("session"), source: try Self.source(&table), isRequired: isRequired)
        }
        if let session { parts.append(session) }
    }

    private mutating func readExchange(
        _ reader: inout SettingsReader, of token: Part
    ) throws(SettingsError) {
        guard var table = try reader.table("exchange") else { return }
        guard use == .asTheyAre else {
            throw reader.error("exchange", " is for what is sent, and here requests are signed")
        }
        var exchange = try TokenExchange(&table)
        (exchange.place, exchange.form) = (token.place, token.form)
        use = .token(exchange)
    }

    var words: [String] {
        switch use {
        case .asTheyAre: []
        case .token(let exchange): exchange.words
        case .amazonSignature(let region, _): WordTemplate(region).words
        }
    }

    func resolved(by word: (String) -> String?) -> AuthenticationPlan {
        var plan = self
        switch use {
        case .asTheyAre: break
        case .token(let exchange): plan.use = .token(exchange.resolved(by: word))
        case .amazonSignature(let region, let service):
            let region = WordTemplate(region).filled(word)
            plan.use = .amazonSignature(region: region, service: service)
        }
        return plan
    }
}

// MARK: - Members

extension AuthenticationPlan {
    /// The part before the colon of a secret.
    private enum User {
        case name(String)
        case secret(SecretSource?)
    }

    private static func user(_ reader: inout SettingsReader) throws(SettingsError) -> User? {
        guard let node = reader.node("user") else { return nil }
        guard case .string(let name) = node.value else {
            return .secret(try reader.table("user", as: source(_:)) ?? nil)
        }
        guard !name.contains(":"), !name.contains("}"), HeaderField.fieldValue(name) != nil else {
            throw reader.error("user", " cannot be '\(TerminalText.shown(name))'")
        }
        return .name(name)
    }

    private static func needed(
        _ key: String, _ reader: inout SettingsReader
    ) throws(SettingsError) -> String {
        guard let text = try reader.string(key) else {
            throw reader.error(key, " is missing")
        }
        guard !text.isEmpty else {
            throw reader.error(key, " is empty")
        }
        return text
    }

    private static func header(_ reader: inout SettingsReader) throws(SettingsError) -> String {
        let name = try needed("header", &reader)
        do throws(ServiceError) {
            return try HeaderField(name: name, value: "secret").name
        } catch {
            throw SettingsError(error.description, at: reader.place("header"))
        }
    }

    private static func form(behind scheme: String) throws(ServiceError) -> SecretForm {
        try SecretForm("\(scheme) {}")
    }

    static func source(_ reader: inout SettingsReader) throws(SettingsError) -> SecretSource? {
        let sources: [(key: String, source: SecretSource?)] = [
            ("variable", try reader.string("variable").map { .variable($0) }),
            ("file", try reader.string("file").map { .file($0) }),
            ("command", try reader.string("command").map { .command($0) }),
            ("credential", try reader.string("credential").map { .credential($0) }),
        ]
        for key in sources.map(\.key) where try reader.string(key) == "" {
            throw reader.error(key, " is empty: a service without a token has 'auth = false'")
        }
        let named = sources.filter { $0.source != nil }
        guard named.count <= 1 else {
            throw reader.error(named[1].key, ": the secret comes from one place")
        }
        return named.first?.source
    }
}
