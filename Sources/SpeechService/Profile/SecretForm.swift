// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// How a secret is written at its place: a text in which one mark stands for it.
///
/// `{}` is the secret as it is, `{base64}` its base64 form (RFC 7617 wants `user:password` so), and
/// `{percent}` percent-encoded for a query (RFC 3986 §2.1).
public struct SecretForm: Sendable, Hashable, CustomStringConvertible {
    /// The secret as it is.
    public static let plain = SecretForm(unchecked: "{}")
    /// The secret as a query wants it.
    public static let percentEncoded = SecretForm(unchecked: "{percent}")

    private enum Mark: String, CaseIterable {
        case plain = "{}"
        case base64 = "{base64}"
        case percent = "{percent}"
    }

    /// The text with its mark.
    public let description: String

    /// Reads a form such as `Token {}`.
    ///
    /// - Throws: `ServiceError.invalidSecretForm` when there is not exactly one mark.
    public init(_ text: String) throws(ServiceError) {
        let count = Mark.allCases.reduce(0) { count, mark in
            var rest = text[...]
            var found = 0
            while let place = Self.range(of: mark.rawValue, in: rest) {
                found += 1
                rest = rest[place.upperBound...]
            }
            return count + found
        }
        guard count == 1, HeaderField.fieldValue(text) != nil else {
            throw .invalidSecretForm(text: text)
        }
        description = text
    }

    private init(unchecked text: String) { description = text }

    /// Whether the secret is written in base64, as a name and a password are.
    var isBase64: Bool { description.contains(Mark.base64.rawValue) }

    /// The text with the secret in it; secret.
    func applied(to secret: String) -> String {
        for mark in Mark.allCases {
            guard let place = Self.range(of: mark.rawValue, in: description[...]) else { continue }
            let written =
                switch mark {
                case .plain: secret
                case .base64: Data(secret.utf8).base64EncodedString()
                case .percent: ServiceURL.percentEncoded(secret)
                }
            return description[..<place.lowerBound] + written + description[place.upperBound...]
        }
        return secret
    }

    /// The text with "redacted" in place of the secret.
    var redacted: String {
        for mark in Mark.allCases {
            guard let place = Self.range(of: mark.rawValue, in: description[...]) else { continue }
            return description[..<place.lowerBound] + "redacted" + description[place.upperBound...]
        }
        return "redacted"
    }

    private static func range(of mark: String, in text: Substring) -> Range<String.Index>? {
        var start = text.startIndex
        while start < text.endIndex {
            if text[start...].hasPrefix(mark) {
                return start..<text.index(start, offsetBy: mark.count)
            }
            start = text.index(after: start)
        }
        return nil
    }
}
