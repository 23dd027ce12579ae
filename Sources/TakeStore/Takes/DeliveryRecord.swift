// SPDX-License-Identifier: Apache-2.0

/// What a take remembers of how it is delivered: everything but the secrets.
///
/// A part of `take.json`, and of its encrypted part when the take is encrypted. Of a secret it holds
/// where it comes from and which origin it belongs to, never the secret.
package struct DeliveryRecord: Sendable, Codable, Equatable {
    /// A field of the head, or of a form.
    package struct Field: Sendable, Codable, Equatable {
        /// The name as it was written.
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

    /// A form around the audio.
    package struct Form: Sendable, Codable, Equatable {
        /// The fields of text, in their order.
        package var fields: [Field]
        /// The name of the audio's field.
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
    /// One of `header`, `query` and `part` is set, and at most one of the sources; without any, the secret
    /// was typed, and must be given again.
    package struct Secret: Sendable, Codable, Equatable {
        /// The header field in which it stands.
        package var header: String?
        /// The query parameter in which it stands.
        package var query: String?
        /// What it is called of which something is made that stands in the request.
        package var part: String?
        /// How it is written there, such as `Bearer {}`.
        package var form: String
        /// The origin to which it belongs, such as `https://speech.example`.
        package var origin: String
        /// The environment variable that holds it.
        package var variable: String?
        /// The file whose first line it is.
        package var file: String?
        /// The shell command that prints it.
        package var command: String?
        /// The file of header fields, one of which holds it.
        package var headerFile: String?
        /// The credential of systemd that holds it.
        package var credential: String?

        /// Creates the record of a secret whose source is set afterwards.
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
    /// How the audio travels: such as `pcm`.
    package var format: String
    /// Header fields beside utter's own, without secrets; nil is none.
    package var headers: [Field]?
    /// The `Content-Type` instead of the format's own.
    package var contentType: String?
    /// The form around the audio; nil is none.
    package var form: Form?
    /// The JSON document in one of whose strings the audio stands; nil is none.
    package var jsonBody: String?
    /// How the answer is read, as `--answer` is written.
    package var answer: String
    /// The name of the field that carries the take's id.
    package var idHeader: String
    /// The body's framing: `auto`, `chunked` or `length`.
    package var framing: String
    /// The newest version of HTTP to speak, `1.1` or `2`; nil is `1.1`.
    package var httpVersion: String?
    /// Whether the service decides itself when the speaker has finished; nil is no.
    package var detectsEnd: Bool?
    /// A file of certificates to trust instead of the system's, an absolute path.
    package var certificateFile: String?
    /// What else is unusual about connections; nil is nothing.
    package var connection: Connection?
    /// Other origins to which a redirect may lead; nil is none.
    package var redirectOrigins: [String]?
    /// Where the secrets come from; nil is none.
    package var secrets: [Secret]?
    /// Whether they may travel without TLS; nil is no.
    package var allowsSecretsInClear: Bool?

    /// The profile that the rest was made by; nil is none.
    package var profile: Profile?

    /// The version of a manifest with this record.
    var version: Int {
        if profile != nil { return 4 }
        return form == nil && jsonBody == nil ? 2 : 3
    }

    /// Creates a record; the rest is set afterwards.
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
