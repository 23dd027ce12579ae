// SPDX-License-Identifier: Apache-2.0

/// A secret that opens the service, and the scheme by which it is shown (RFC 9110 §11.4).
///
/// The secret is out of reach of descriptions, `dump` and string interpolation; only
/// `headerValue` reads it.
public struct Credential: Sendable, Hashable {
    /// The word in front of the secret, such as `Bearer`.
    public let scheme: String
    private let secret: String

    /// Creates a credential.
    ///
    /// White space around the secret goes, since files end in a line break.
    ///
    /// - Throws: `ServiceError.invalidCredential` when the scheme is not a token, or when the
    ///   secret is empty or holds anything but visible ASCII and inner spaces.
    public init(scheme: String = "Bearer", secret: String) throws(ServiceError) {
        guard HeaderField.isToken(scheme) else {
            throw .invalidCredential(reason: "its scheme is not a word")
        }
        let bytes = Self.trimmed(secret)
        guard !bytes.isEmpty else { throw .invalidCredential(reason: "it is empty") }
        guard bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            let reason = "it holds a line break, a control character or a byte that is not ASCII"
            throw .invalidCredential(reason: reason)
        }
        self.scheme = scheme
        self.secret = String(decoding: bytes, as: UTF8.self)
    }

    /// The value of the `Authorization` field; secret.
    public var headerValue: String { "\(scheme) \(secret)" }

    private static func trimmed(_ text: String) -> ArraySlice<UInt8> {
        var bytes = Array(text.utf8)[...].drop(while: JSONScanner.isWhitespace)
        while let last = bytes.last, JSONScanner.isWhitespace(last) { bytes.removeLast() }
        return bytes
    }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme, and "redacted" for the secret.
    public var description: String { "\(scheme) redacted" }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The same for `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["credential": description]) }
}
