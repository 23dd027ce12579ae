// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// How a secret is written at its place: a text in which one mark stands for it.
///
/// `{}` is the secret as it is, `{base64}` its base64 form (RFC 7617 wants `user:password` so),
/// `{base64:NAME}` that of `NAME:` and the secret behind it, and `{percent}` percent-encoded for a
/// query (RFC 3986 §2.1).
public struct SecretForm: Sendable, Hashable, CustomStringConvertible {
    /// The secret as it is.
    public static let plain = SecretForm(unchecked: "{}")
    /// The secret behind the word `Bearer` (RFC 6750 §2.1).
    public static let bearer = SecretForm(unchecked: "Bearer {}")
    package static let percentEncoded = SecretForm(unchecked: "{percent}")

    private enum Mark {
        case plain, percent
        case base64(prefix: String)

        init?(_ name: Substring) {
            switch name {
            case "": self = .plain
            case "percent": self = .percent
            case "base64": self = .base64(prefix: "")
            default:
                guard name.hasPrefix("base64:"), name.count > 7 else { return nil }
                self = .base64(prefix: "\(name.dropFirst(7)):")
            }
        }
    }

    /// The text with its mark.
    public let description: String

    /// Reads a form such as `Token {}`.
    ///
    /// - Throws: `ServiceError.invalidSecretForm` when there is not exactly one mark.
    public init(_ text: String) throws(ServiceError) {
        guard Self.marks(in: text).count == 1, HeaderField.fieldValue(text) != nil else {
            throw .invalidSecretForm(text: text)
        }
        description = text
    }

    init(unchecked text: String) { description = text }

    /// HTTP's basic authentication (RFC 7617); the secret is the password.
    static func basic(user: String) -> SecretForm {
        SecretForm(unchecked: "Basic {base64:\(user)}")
    }

    /// Base64 of a name and a password.
    var isBase64: Bool { description.contains("{base64") }

    func applied(to secret: String) -> String {
        replacingMark { mark in
            switch mark {
            case .plain: secret
            case .percent: ServiceURL.percentEncoded(secret)
            case .base64(let prefix): Data((prefix + secret).utf8).base64EncodedString()
            }
        }
    }

    var redacted: String { replacingMark { _ in "redacted" } }

    private func replacingMark(_ value: (Mark) -> String) -> String {
        guard let (range, mark) = Self.marks(in: description).first else { return value(.plain) }
        return description[..<range.lowerBound] + value(mark) + description[range.upperBound...]
    }

    private static func marks(in text: String) -> [(range: Range<String.Index>, mark: Mark)] {
        text.indices.compactMap { start in
            guard text[start] == "{", let end = text[start...].firstIndex(of: "}"),
                let mark = Mark(text[text.index(after: start)..<end])
            else { return nil }
            return (start..<text.index(after: end), mark)
        }
    }
}
