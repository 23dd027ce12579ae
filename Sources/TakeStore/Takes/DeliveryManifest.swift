// SPDX-License-Identifier: Apache-2.0

/// The delivery of a take as it remembers it: everything but the secrets.
///
/// A part of `take.json`, and of its encrypted part when the take is encrypted. Of a secret it holds
/// where it comes from and which origin it belongs to, never the secret.
package struct DeliveryManifest: Sendable, Equatable {
    package struct Text: Sendable, Codable, Equatable {
        package let name, text: String

        package init(name: String, text: String) { (self.name, self.text) = (name, text) }
    }

    /// Where a secret stands in the request, and where it comes from.
    ///
    /// One of `header`, `query`, `part` and `headerFile` is set, and at most one of the sources; without
    /// any, the secret was typed, and must be given again, as one that came through a pipe: its file has
    /// no name.
    package struct Secret: Sendable, Codable, Equatable {
        /// `part` is the name of a part from which the request is made.
        package let header, query, part: String?
        /// How it is written there, such as `Bearer {}`.
        package internal(set) var form: String
        package internal(set) var origin: String
        /// `file` has it as its first line, and `headerFile` header fields, each of which is a secret.
        package internal(set) var variable, file, command, headerFile, credential: String?

        package init(
            header: String? = nil, query: String? = nil, part: String? = nil, form: String,
            origin: String, variable: String? = nil, file: String? = nil, command: String? = nil,
            headerFile: String? = nil, credential: String? = nil
        ) {
            (self.header, self.query, self.part) = (header, query, part)
            (self.form, self.origin) = (form, origin)
            (self.variable, self.file, self.command) = (variable, file, command)
            (self.headerFile, self.credential) = (headerFile, credential)
        }
    }

    /// Texts of profiles, each of which counts over those behind it: what was said of this take, the
    /// profile's own, that of the profile which it extends, and so on.
    ///
    /// The files may change or go: the take is sent by what they were.
    package let texts: [Text]
    /// The words that a person said, by their names.
    package let words: [String: String]
    /// The form in which the audio travels.
    package let format: String
    package internal(set) var secrets: [Secret]?
    /// Where the key comes from with which the body is encrypted, and where the name and the password
    /// for the proxy do; nil without one.
    package internal(set) var bodyKey, proxyLogin: Secret?
    /// Whether no person had chosen a service; nil is no.
    package internal(set) var isUnset: Bool?
    /// The word of the texts for an unknown outcome, for lists; nil: to send it again.
    package internal(set) var unknownOutcome: String?

    /// The delivery of a take of version 1, in place of the texts.
    package private(set) var former: FormerDelivery?

    package init(
        texts: [Text], words: [String: String], format: String, secrets: [Secret]? = nil,
        bodyKey: Secret? = nil, proxyLogin: Secret? = nil, isUnset: Bool? = nil,
        unknownOutcome: String? = nil
    ) {
        (self.texts, self.words, self.format) = (texts, words, format)
        (self.secrets, self.bodyKey, self.proxyLogin) = (secrets, bodyKey, proxyLogin)
        (self.isUnset, self.unknownOutcome) = (isUnset, unknownOutcome)
    }
}

/// The delivery of a take of version 1, which is written as it was read until it is sent otherwise.
///
/// Its members are known where it is sent.
@dynamicMemberLookup
package enum FormerDelivery: Sendable, Codable, Equatable {
    case text(String), flag(Bool), list([Self]), members([String: Self])

    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let text = try? value.decode(String.self) {  // Another kind is tried below.
            self = .text(text)
        } else if let flag = try? value.decode(Bool.self) {  // Another kind is tried below.
            self = .flag(flag)
        } else if let list = try? value.decode([Self].self) {  // Only members are left.
            self = .list(list)
        } else {
            self = .members(try value.decode([String: Self].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .text(let text): try text.encode(to: encoder)
        case .flag(let flag): try flag.encode(to: encoder)
        case .list(let list): try list.encode(to: encoder)
        case .members(let members): try members.encode(to: encoder)
        }
    }

    /// A missing member has no text, and no members.
    package subscript(dynamicMember name: String) -> Self {
        if case .members(let all) = self { all[name] ?? .members([:]) } else { .members([:]) }
    }
}

extension DeliveryManifest: Codable {
    private enum Key: String, CodingKey {
        case texts, words, format, secrets, bodyKey, proxyLogin, isUnset, unknownOutcome
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        self.init(
            texts: try members.decodeIfPresent([Text].self, forKey: .texts) ?? [],
            words: try members.decodeIfPresent([String: String].self, forKey: .words) ?? [:],
            format: try members.decode(String.self, forKey: .format),
            secrets: try members.decodeIfPresent([Secret].self, forKey: .secrets),
            bodyKey: try members.decodeIfPresent(Secret.self, forKey: .bodyKey),
            proxyLogin: try members.decodeIfPresent(Secret.self, forKey: .proxyLogin),
            isUnset: try members.decodeIfPresent(Bool.self, forKey: .isUnset),
            unknownOutcome: try members.decodeIfPresent(String.self, forKey: .unknownOutcome))
        if !members.contains(.texts) { former = try FormerDelivery(from: decoder) }
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
