// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// How each request is signed with the secret.
package enum RequestSignature: Sendable, Hashable {
    /// By a keyed digest of a text, in fields of the head.
    case hmac(TextSignature)
    /// By version 4 of Amazon's signatures, without the body.
    case awsV4(region: String, service: String)

    var words: [String] {
        let own = ["user", "request", "time", "signature"]
        let texts =
            switch self {
            case .hmac(let signature): [signature.message] + signature.headers.map(\.value)
            case .awsV4(let region, _): [region]
            }
        return texts.flatMap { WordTemplate($0).words }.filter { !own.contains($0) }
    }

    func resolved(by word: (String) -> String?) -> RequestSignature {
        switch self {
        case .hmac(let signature): .hmac(signature.resolved(by: word))
        case .awsV4(let region, let service):
            .awsV4(region: WordTemplate(region).filled(word), service: service)
        }
    }
}

/// A keyed digest (HMAC with SHA-256, RFC 2104) of a text that is made for each request.
///
/// In its texts `{user}` stands for the name that belongs to the key, `{request}` for a number of
/// the request's own, `{time}` for the seconds since 1970, and in the fields `{signature}` for the
/// digest.
package struct TextSignature: Sendable, Hashable {
    /// How bytes are written.
    package enum Coding: String, Sendable, CaseIterable {
        case plain
        /// RFC 4648 §4.
        case base64
        /// RFC 4648 §5.
        case base64url
        /// RFC 4648 §8, in lower case.
        case hex
    }

    package var message: String
    package var keyCoding = Coding.plain
    package var coding = Coding.hex
    package var headers: [SettingsText]

    /// Reads the table `auth.signature`.
    init(_ reader: inout SettingsReader) throws(SettingsError) {
        guard let message = try reader.string("message") else {
            throw SettingsError("'\(reader.path("message"))' is not there")
        }
        guard let headers = try reader.texts("headers"), !headers.isEmpty else {
            throw SettingsError("'\(reader.path("headers"))' is not there")
        }
        self.message = message
        self.headers = headers.map { SettingsText($0) }
        keyCoding = try reader.word("key") ?? .plain
        coding = try reader.word("coding") ?? .hex
        try reader.finish()
    }

    fileprivate func resolved(by word: (String) -> String?) -> TextSignature {
        var signature = self
        signature.message = WordTemplate(message).filled(word)
        signature.headers = headers.map { $0.filled(word) }
        return signature
    }
}
