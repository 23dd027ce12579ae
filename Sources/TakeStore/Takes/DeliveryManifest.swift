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

    /// The delivery of a take that an earlier version has written, in place of the texts.
    package internal(set) var former: FormerDelivery?

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
