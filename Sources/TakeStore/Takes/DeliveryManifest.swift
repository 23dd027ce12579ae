// SPDX-License-Identifier: Apache-2.0

/// What a take remembers of how it is delivered: everything but the secrets.
///
/// A part of `take.json`, and of its encrypted part when the take is encrypted. Of a secret it holds
/// where it comes from and which origin it belongs to, never the secret.
package struct DeliveryManifest: Sendable, Codable, Equatable {
    package struct Field: Sendable, Codable, Equatable {
        package var name: String
        package var value: String
        /// The value's type in a form; nil is text.
        package var contentType: String?

        package init(name: String, value: String, contentType: String? = nil) {
            self.name = name
            self.value = value
            self.contentType = contentType
        }
    }

    package struct Form: Sendable, Codable, Equatable {
        package var fields: [Field]
        package var fileField: String
        /// The audio's file name; nil is `audio` with the extension of its format.
        package var fileName: String?

        package init(fields: [Field], fileField: String, fileName: String?) {
            self.fields = fields
            self.fileField = fileField
            self.fileName = fileName
        }
    }

    /// Where a secret stands in the request, and where it comes from.
    ///
    /// One of `header`, `query`, `part` and `headerFile` is set, and at most one of the sources; without
    /// any, the secret was typed, and must be given again, as one that came through a pipe: its file has
    /// no name.
    package struct Secret: Sendable, Codable, Equatable {
        package var header: String?
        package var query: String?
        /// The name of a part from which the request is made.
        package var part: String?
        /// How it is written there, such as `Bearer {}`.
        package var form: String
        package var origin: String
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

    package var method = "POST"
    /// Where it is sent, with the query, in which the values of secret parameters are empty.
    package var url: String
    package var format: String
    package var headers: [Field]?
    package var contentType: String?
    package var form: Form?
    /// The JSON document in one of whose strings the audio stands; nil without one.
    package var jsonBody: String?
    /// Where the key comes from with which the body is encrypted; nil without one.
    package var bodyKey: Secret?
    /// How the answer is read, in a word, such as `json:text`; `profile` is by that.
    package var answer: String
    package var idHeader: String
    package var framing: String
    package var httpVersion: String?
    /// Whether the service decides itself when the speaker has finished; nil is no.
    package var detectsEnd: Bool?
    package var certificateFile: String?
    /// What else is unusual about connections; nil is nothing.
    package var connection: Connection?
    package var redirectOrigins: [String]?
    package var secrets: [Secret]?
    /// Whether they may travel without TLS; nil is no.
    package var allowsSecretsInClear: Bool?
    package var unknownOutcome: String?
    /// Whether no person had chosen a service; nil is no.
    package var isUnset: Bool?

    package var profile: Profile?

    package init(
        url: String, format: String, answer: String, idHeader: String, framing: String
    ) {
        self.url = url
        self.format = format
        self.answer = answer
        self.idHeader = idHeader
        self.framing = framing
    }
}

extension DeliveryManifest {
    /// How connections are made, beside what stands in the record itself; what is nil is as usual.
    package struct Connection: Sendable, Codable, Equatable {
        package var proxy: String?
        package var proxyExceptions: [String]?
        package var proxyLogin: Secret?
        package var clientCertificate: String?
        package var clientKey: String?
        package var minimumTLS: String?
        /// The public keys of which the service must have one.
        package var pinnedKeys: [String]?
        package var addresses: String?
        /// Addresses of hosts, as `HOST:PORT:ADDRESS`.
        package var resolutions: [String]?

        package init() {}
    }

    /// The profile of a service by value, and what was said with it.
    ///
    /// The files may change or go: the take is sent by what they were.
    package struct Profile: Sendable, Codable, Equatable {
        package struct Text: Sendable, Codable, Equatable {
            package var name: String
            package var text: String

            package init(name: String, text: String) {
                self.name = name
                self.text = text
            }
        }

        /// The profile's own text, that of the profile which it extends, and so on.
        package var texts: [Text]
        /// What a person said, by the names of the words.
        package var words: [String: String]
        package var format: String

        package init(texts: [Text], words: [String: String], format: String) {
            self.texts = texts
            self.words = words
            self.format = format
        }
    }
}
