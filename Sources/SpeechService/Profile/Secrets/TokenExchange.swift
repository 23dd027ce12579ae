// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LinuxPlatform
internal import Settings

/// The request that fetches a token for a secret, and what is to be done with its answer.
///
/// In its texts `{secret}` stands for the secret, `{user}` and `{key}` for what is before and behind
/// the colon in it, `{base64}` for its base64 form, and `{uuid}` for a number of its own.
package struct TokenExchange: Sendable, Hashable {
    static let byteLimit = 64 << 10
    /// How long a token is valid whose answer does not say.
    private static let usualLifetime = Duration.seconds(300)

    var url: String
    package private(set) var method = StepMethod.post
    var headers: [HeaderTemplate] = []
    var body: String?
    /// Where in the answer the token stands; nil when it is the answer.
    package let token: JSONPath?
    var expiry: JSONPath?
    var lifetime = usualLifetime
    var place = Credential.Place.header("Authorization")
    var form = SecretForm.plain

    /// Reads the table `auth.exchange`; where the token stands is set afterwards.
    init(_ reader: inout SettingsReader) throws(SettingsError) {
        guard let url = try reader.string("url") else {
            throw reader.error("url", " is missing")
        }
        self.url = url
        method = try reader.word("method") ?? .post
        headers = try (reader.texts("headers") ?? []).map { HeaderTemplate($0) }
        body = try reader.string("body")
        token = try reader.string("token", as: JSONPath.init(_:))
        expiry = try reader.string("expires", as: JSONPath.init(_:))
        if let seconds = try reader.seconds("seconds", upTo: 30 * 86_400) { lifetime = seconds }
        try reader.finish()
    }

    func resolved(by word: (String) -> String?) -> TokenExchange {
        var exchange = self
        exchange.url = WordTemplate(url).filled { word($0).map { ServiceURL.percentEncoded($0) } }
        exchange.headers = headers.map { $0.filled(word) }
        exchange.body = body.map { WordTemplate($0).filled(word) }
        return exchange
    }

    var words: [String] {
        let texts = [url, body ?? ""] + headers.map(\.value)
        let own = ["secret", "user", "key", "base64", "uuid"]
        return texts.flatMap { WordTemplate($0).words }.filter { !own.contains($0) }
    }

    /// Reads the answer; `now` is in seconds since 1970.
    ///
    /// - Returns: the token, which is secret, and how long it is valid; nil when there is none.
    package func read(_ bytes: [UInt8], at now: Double) -> (token: String, lifetime: Duration)? {
        guard bytes.count <= Self.byteLimit else { return nil }
        guard let token else {
            let text = TerminalText.singleLine(String(decoding: bytes, as: UTF8.self))
            return text.isEmpty ? nil : (text, lifetime)
        }
        // An answer that is not JSON holds no token.
        guard let answer = try? JSONParser.parse(bytes),
            let text = token.values(in: answer).first?.string, !text.isEmpty
        else { return nil }
        let told = expiry.flatMap { $0.values(in: answer).first }.flatMap { value in
            value.number ?? value.string.flatMap(Double.init)
        }
        return (text, told.flatMap { Self.lifetime(of: $0, at: now) } ?? lifetime)
    }

    /// The lifetime by a number: seconds, or a time in seconds or milliseconds since 1970.
    private static func lifetime(of number: Double, at now: Double) -> Duration? {
        guard number.isFinite, number > 0 else { return nil }
        let seconds =
            switch number {
            case 1e11...: number / 1_000 - now
            case 1e9...: number - now
            default: number
            }
        return .seconds(min(max(0, seconds), 30 * 86_400))
    }
}

/// A header field of a profile, whose value may hold words.
struct HeaderTemplate: Sendable, Hashable {
    var name: String
    var value: String

    init(_ member: (name: String, value: String, place: SettingsPosition)) {
        (name, value) = (member.name, member.value)
    }

    func filled(_ word: (String) -> String?) -> HeaderTemplate {
        var text = self
        text.value = WordTemplate(value).filled(word)
        return text
    }
}

/// The method of a request that need not carry a recording (RFC 9110 §9.3).
package enum StepMethod: String, Sendable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case head = "HEAD"
    case options = "OPTIONS"
    /// Makes a folder (RFC 4918 §9.3).
    case mkcol = "MKCOL"
}

package struct ClientSecrets: Sendable {
    /// The name that belongs to the key; empty when there is none.
    package let user: String
    package let key: String
    /// A token of a session, beside both; secret.
    package let session: String?
    /// Both as they are usually given, `user:key`; secret.
    let whole: String

    /// Takes the secrets of a service; nil when it has none of that kind.
    ///
    /// A key that no name belongs to may hold it, before a colon.
    package init?(of service: RecognitionService) {
        func part(_ name: String) -> String? {
            service.credentials.first { $0.place == .part(name) }?.value
        }
        guard let key = part("key") else { return nil }
        session = part("session")
        if let user = part("user") {
            (self.user, self.key, whole) = (user, key, "\(user):\(key)")
        } else {
            let words = key.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = words.count > 1 ? String(words[0]) : ""
            self.key = String(words[words.count - 1])
            whole = key
        }
    }
}

/// With its secrets in it.
package struct TokenRequest: Sendable, Hashable {
    package let url: ServiceURL
    package let headers: [HeaderField]
    package let body: [UInt8]
}

extension TokenExchange {
    package func request(
        with secrets: ClientSecrets, uuid: String
    ) throws(ServiceError) -> TokenRequest {
        let values = [
            "secret": secrets.whole, "user": secrets.user, "key": secrets.key,
            "base64": Data(secrets.whole.utf8).base64EncodedString(), "uuid": uuid,
        ]
        let url = try ServiceURL(
            WordTemplate(self.url).filled { values[$0].map { ServiceURL.percentEncoded($0) } })
        var fields = try headers.map { header throws(ServiceError) in
            try HeaderField(name: header.name, value: header.filled { values[$0] }.value)
        }
        let isTyped = fields.contains { $0.isNamed("Content-Type") }
        let isJSON = fields.contains { $0.isNamed("Content-Type") && $0.value.contains("json") }
        let text = WordTemplate(body ?? "").filled { name in
            values[name].map {
                isJSON
                    ? String(JSONText.quoted($0).dropFirst().dropLast())
                    : ServiceURL.percentEncoded($0)
            }
        }
        if body != nil, !isTyped {
            fields.append(
                try HeaderField(name: "Content-Type", value: "application/x-www-form-urlencoded"))
        }
        return TokenRequest(url: url, headers: fields, body: Array(text.utf8))
    }

    package func credential(_ token: String) throws(ServiceError) -> Credential {
        try Credential(place: place, form: form, secret: token)
    }
}
