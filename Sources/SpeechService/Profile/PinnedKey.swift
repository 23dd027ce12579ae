// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LinuxPlatform

/// The SHA-256 of a public key (of its SubjectPublicKeyInfo, RFC 7469 §2.4) that a service must have.
public struct PinnedKey: Sendable, Hashable, CustomStringConvertible {
    /// The text `sha256//` and the digest in base64.
    public let description: String

    private static let scheme = "sha256//"

    /// Reads `sha256//…`.
    ///
    /// - Throws: `ServiceError.invalidConnection`.
    public init(_ text: String) throws(ServiceError) {
        guard text.hasPrefix(Self.scheme),
            Data(base64Encoded: String(text.dropFirst(Self.scheme.count)))?.count == 32
        else {
            throw .invalidConnection(
                what: "the key '\(TerminalText.cut(TerminalText.singleLine(text)))'",
                reason: "it is sha256// and a SHA-256 in base64")
        }
        description = text
    }
}
