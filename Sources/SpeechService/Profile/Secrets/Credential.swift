// SPDX-License-Identifier: Apache-2.0

internal import Cryptography

/// A secret that opens the service, where in the request it stands, and where it comes from.
///
/// A credential that is named by its source alone holds no secret yet: the pipeline asks its owner
/// for it once the take records (`SecretProvider`). The secret is out of reach of descriptions,
/// `dump` and string interpolation; only `value`, `plain` and `secrets` read it.
public struct Credential: Sendable, Hashable {
    /// Where in the request a secret stands.
    public enum Place: Sendable, Hashable {
        /// In the header field of this name.
        case header(String)
        /// In the query parameter of this name.
        case query(String)
        /// Nowhere: something is made of it, for which it is known by this name, such as `key`.
        case part(String)
        /// In the header fields that the source names itself (`SecretSource.headerFile`).
        case fields
        /// In the greeting to the proxy on the way: a name, a colon and a password.
        case proxy
        /// Nowhere: the body is encrypted with it.
        case body
    }

    package let place: Place
    package let form: SecretForm
    package let source: SecretSource
    /// The secret itself; nil until it is known.
    package let plain: String?

    /// Creates a credential for the `Authorization` field, such as `Bearer …` (RFC 9110 §11.4).
    ///
    /// White space around the secret goes, since files end in a line break.
    ///
    /// - Throws: `ServiceError.invalidCredential` when the scheme is not a token, or when the
    ///   secret is empty or holds anything but visible ASCII and inner spaces.
    public init(
        scheme: String = "Bearer", secret: String, source: SecretSource = .given
    ) throws(ServiceError) {
        guard HeaderField.isToken(scheme) else {
            throw .invalidCredential(reason: "its scheme is not a word")
        }
        try self.init(
            place: .header("Authorization"), form: SecretForm("\(scheme) {}"), secret: secret,
            source: source)
    }

    /// Creates a credential for any place.
    ///
    /// - Throws: as above, but for the scheme.
    public init(
        place: Place, form: SecretForm = .plain, secret: String, source: SecretSource = .given
    ) throws(ServiceError) {
        self.init(place: place, form: form, checked: nil, source: source)
        self = try holding(secret)
    }

    /// Names a secret that is asked for when a take wants it.
    ///
    /// - Parameters:
    ///   - source: where it comes from; what is `.given` cannot be asked for.
    ///   - place: where in the request it stands.
    ///   - form: how it is written there.
    public init(
        askedOf source: SecretSource, place: Place = .header("Authorization"),
        form: SecretForm = .bearer
    ) {
        self.init(place: place, form: form, checked: nil, source: source)
    }

    /// Names a file of header fields, each of which is a secret.
    public init(headerFile path: String) {
        self.init(place: .fields, form: .plain, checked: nil, source: .headerFile(path))
    }

    private init(place: Place, form: SecretForm, checked: String?, source: SecretSource) {
        (self.place, self.form, self.source) = (place, form, source)
        plain = checked
    }

    package var isKnown: Bool { plain != nil }

    /// With the owner's answer.
    package func holding(_ secret: String) throws(ServiceError) -> Credential {
        let secret = try Self.checked(secret)
        guard place != .proxy || secret.contains(":") else {
            throw .invalidCredential(reason: "a proxy's is a name, a colon and a password")
        }
        // Why it is none is not said of a secret.
        let key = place == .body ? try? EncryptionKey(secret: Array(secret.utf8)) : nil
        guard place != .body || key?.isPassphrase == false else {
            throw .invalidCredential(
                reason: "a body's key is random, and not a passphrase: a line that begins with "
                    + "utter-key-")
        }
        return Credential(place: place, form: form, checked: secret, source: source)
    }

    /// The answer may be a file of header fields: one credential for each.
    package func answered(_ text: String) throws(ServiceError) -> [Credential] {
        guard place == .fields else { return [try holding(text)] }
        let fields = try HeaderField.fields(in: text)
        guard !fields.isEmpty else {
            throw .invalidCredential(reason: "there is no header field; write one a line")
        }
        return try fields.map { field throws(ServiceError) in
            try Credential(place: .header(field.name), secret: field.value, source: source)
        }
    }

    package func isAnswered(by other: Credential) -> Bool {
        place == .fields ? source == other.source : place.isSame(as: other.place)
    }

    /// Without outer white space.
    private static func checked(_ secret: String) throws(ServiceError) -> String {
        let bytes = Array(secret.utf8).trimmed(JSONScanner.isWhitespace)
        guard !bytes.isEmpty else { throw .invalidCredential(reason: "it is empty") }
        guard bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            let reason = "it holds a line break, a control character or a byte that is not ASCII"
            throw .invalidCredential(reason: reason)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value in the request; nil until it is known; secret.
    package var value: String? { plain.map { form.applied(to: $0) } }

    /// The texts that must not be written anywhere: the secret, its form in the request without
    /// the scheme, and the password alone; secret.
    package var secrets: [String] {
        guard let plain, let value else { return [] }
        var all = [plain]
        if let space = value.lastIndex(of: " ") { all.append(String(value[space...].dropFirst())) }
        var isLogin = form.isBase64
        // A name and a key in one.
        switch place {
        case .part, .proxy: isLogin = true
        case .header, .query, .fields, .body: break
        }
        if isLogin { all.append(String(plain.drop { $0 != ":" }.dropFirst())) }
        return all
    }

    /// Name and password, each percent-encoded, around a colon; secret.
    package var percentEncodedLogin: String? {
        plain.map { login in
            login.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                .map { ServiceURL.percentEncoded(String($0)) }.joined(separator: ":")
        }
    }
}

extension Credential.Place: CustomStringConvertible {
    /// The place in words, such as "header 'Authorization'".
    public var description: String {
        switch self {
        case .header(let name): "header '\(name)'"
        case .query(let name): "query parameter '\(name)'"
        case .part(let name): "secret '\(name)'"
        case .fields: "file of header fields"
        case .proxy: "login of the proxy"
        case .body: "key of the body"
        }
    }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The form, and "redacted" for the secret.
    public var description: String { "\(place): \(form.redacted)" }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The same for `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["credential": description]) }
}

/// Where a secret comes from, so that it can be fetched again; never the secret itself.
public enum SecretSource: Sendable, Hashable {
    /// An environment variable of this name.
    case variable(String)
    /// The first line of the file at this path.
    case file(String)
    /// The output of this shell command.
    case command(String)
    /// All header fields of the file at this path.
    case headerFile(String)
    /// The credential of this name that systemd has given the process.
    case credential(String)
    /// A command line or a program's own memory, neither of which can be asked again.
    case given
}

extension SecretSource {
    /// True for a pipe such as `/dev/fd/3`.
    package var isReadOnce: Bool {
        switch self {
        case .file(let path), .headerFile(let path):
            path.hasPrefix("/dev/") || path.hasPrefix("/proc/")
        case .variable, .command, .credential, .given: false
        }
    }

    /// Whether the source cannot be asked again: what a kept take remembers of a pipe has no path.
    package var isGone: Bool {
        switch self {
        case .file(let path), .headerFile(let path): path.isEmpty
        case .given: true
        case .variable, .command, .credential: false
        }
    }
}

extension SecretSource: CustomStringConvertible {
    /// The source in words, such as "the variable UTTER_TOKEN".
    public var description: String {
        switch self {
        case .variable(let name): "the variable \(name)"
        case .file(""), .headerFile(""): "a pipe"
        case .file(let path), .headerFile(let path): "the file '\(path)'"
        case .command(let command): "the command '\(command)'"
        case .credential(let name): "the credential '\(name)'"
        case .given: "a command line"
        }
    }
}
