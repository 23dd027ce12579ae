// SPDX-License-Identifier: Apache-2.0

/// The delivery of a take as it remembers it: everything but the secrets.
///
/// A part of `take.json`, and of its encrypted part when the take is encrypted. Of a secret it holds
/// where it comes from and which origin it belongs to, never the secret.
package struct DeliveryManifest: Sendable, Equatable {
    package struct Text: Sendable, Codable, Equatable {
        package let name: String
        package let text: String

        package init(name: String, text: String) {
            self.name = name
            self.text = text
        }
    }

    /// Where a secret stands in the request, and where it comes from.
    ///
    /// One of `header`, `query`, `part` and `headerFile` is set, and at most one of the sources; without
    /// any, the secret was typed, and must be given again, as one that came through a pipe: its file has
    /// no name.
    package struct Secret: Sendable, Codable, Equatable {
        package let header: String?
        package let query: String?
        /// The name of a part from which the request is made.
        package var part: String?
        /// How it is written there, such as `Bearer {}`.
        package internal(set) var form: String
        package internal(set) var origin: String
        package var variable: String?
        /// The file whose first line it is.
        package var file: String?
        package var command: String?
        /// The file of header fields, each of which is a secret.
        package var headerFile: String?
        package var credential: String?

        package init(header: String? = nil, query: String? = nil, form: String, origin: String) {
            self.header = header
            self.query = query
            self.form = form
            self.origin = origin
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
    package var secrets: [Secret]?
    /// Where the key comes from with which the body is encrypted; nil without one.
    package var bodyKey: Secret?
    /// Where the name and the password for the proxy come from; nil without one.
    package var proxyLogin: Secret?
    /// Whether no person had chosen a service; nil is no.
    package var isUnset: Bool?
    /// The word of the texts for an unknown outcome, for lists; nil: to send it again.
    package var unknownOutcome: String?

    /// The delivery of a take that an earlier version has written, in place of the texts.
    package internal(set) var former: FormerDelivery?

    package init(texts: [Text], words: [String: String], format: String) {
        self.texts = texts
        self.words = words
        self.format = format
    }
}
