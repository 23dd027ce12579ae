// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// The secrets with which a token is fetched or a request is signed.
package struct ClientSecrets: Sendable {
    /// The name that belongs to the key; empty when there is none.
    package let user: String
    /// The key; secret.
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

/// The request for a token, with its secrets in it.
package struct TokenRequest: Sendable {
    /// Where it goes; secret.
    package var url: ServiceURL
    /// Its fields; secret.
    package var headers: [HeaderField]
    /// Its body; secret.
    package var body: [UInt8]
}

extension TokenExchange {
    /// Makes the request, which is secret.
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
                try HeaderField(
                    name: "Content-Type", value: "application/x-www-form-urlencoded"))
        }
        return TokenRequest(url: url, headers: fields, body: Array(text.utf8))
    }
}

extension TokenExchange {
    /// A fetched token at its place in a request.
    package func credential(_ token: String) throws(ServiceError) -> Credential {
        try Credential(place: place, form: form, secret: token)
    }
}
