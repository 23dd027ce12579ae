// SPDX-License-Identifier: Apache-2.0

/// How a take of version 1 says its delivery: each member of the request by itself.
///
/// It is read, and written back as it is, until the take is sent otherwise.
package struct FormerDelivery: Sendable, Codable, Equatable {
    package struct Field: Sendable, Codable, Equatable {
        package let name, value: String
        package let contentType: String?
    }

    package struct Form: Sendable, Codable, Equatable {
        package let fields: [Field]
        package let fileField: String
        package let fileName: String?
    }

    package struct Connection: Sendable, Codable, Equatable {
        package let proxy, clientCertificate, clientKey, minimumTLS, addresses: String?
        package let proxyExceptions, pinnedKeys, resolutions: [String]?
        package let proxyLogin: DeliveryManifest.Secret?
    }

    package struct Profile: Sendable, Codable, Equatable {
        package let texts: [DeliveryManifest.Text]
        package let words: [String: String]
        package let format: String
    }

    package let method, url, format, idHeader, framing: String
    /// Such as `json:text`; `profile` is the rule of the profile.
    package let answer: String
    package let contentType, jsonBody, httpVersion, certificateFile, unknownOutcome: String?
    package let detectsEnd, allowsSecretsInClear: Bool?
    package let headers: [Field]?
    package let form: Form?
    package let bodyKey: DeliveryManifest.Secret?
    package let connection: Connection?
    package let redirectOrigins: [String]?
    package let profile: Profile?
    let secrets: [DeliveryManifest.Secret]?
    let isUnset: Bool?
}

extension DeliveryManifest: Codable {
    private enum Key: String, CodingKey {
        case texts, words, format, secrets, bodyKey, proxyLogin, isUnset, unknownOutcome
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        guard members.contains(.texts) else {
            self.init(try FormerDelivery(from: decoder))
            return
        }
        self.init(
            texts: try members.decode([Text].self, forKey: .texts),
            words: try members.decode([String: String].self, forKey: .words),
            format: try members.decode(String.self, forKey: .format),
            secrets: try members.decodeIfPresent([Secret].self, forKey: .secrets),
            bodyKey: try members.decodeIfPresent(Secret.self, forKey: .bodyKey),
            proxyLogin: try members.decodeIfPresent(Secret.self, forKey: .proxyLogin),
            isUnset: try members.decodeIfPresent(Bool.self, forKey: .isUnset),
            unknownOutcome: try members.decodeIfPresent(String.self, forKey: .unknownOutcome))
    }

    private init(_ former: FormerDelivery) {
        self.init(
            texts: former.profile?.texts ?? [], words: former.profile?.words ?? [:],
            format: former.format, secrets: former.secrets, bodyKey: former.bodyKey,
            proxyLogin: former.connection?.proxyLogin, isUnset: former.isUnset,
            unknownOutcome: former.unknownOutcome)
        self.former = former
    }

    package func encode(to encoder: any Encoder) throws {
        if let former { return try former.encode(to: encoder) }
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(texts, forKey: .texts)
        try members.encode(words, forKey: .words)
        try members.encode(format, forKey: .format)
        try members.encodeIfPresent(secrets, forKey: .secrets)
        try members.encodeIfPresent(bodyKey, forKey: .bodyKey)
        try members.encodeIfPresent(proxyLogin, forKey: .proxyLogin)
        try members.encodeIfPresent(isUnset, forKey: .isUnset)
        try members.encodeIfPresent(unknownOutcome, forKey: .unknownOutcome)
    }
}
