// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import FoundationEssentials
internal import TakeStore

/// By what a whole body is known again: its length and its SHA-256.
///
/// An id alone would not do: a body that was cut and one that is whole have the same.
struct BodyIdentity: Sendable, Hashable {
    var byteCount: Int
    /// 64 hexadecimal digits.
    var sha256: String

    /// Whether a `Content-Digest` field (RFC 9530 §2) is about this body; true for other
    /// algorithms than SHA-256, and without one.
    func agrees(with contentDigest: String?) -> Bool {
        guard let contentDigest else { return true }
        for member in contentDigest.split(separator: ",") {
            let text = member.drop { $0 == " " }
            guard text.hasPrefix("sha-256=:"), text.hasSuffix(":") else { continue }
            let digest = Data(base64Encoded: String(text.dropFirst(9).dropLast()))
            return digest?.map { Self.hexadecimal($0) }.joined() == sha256
        }
        return true
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
}

/// Takes the identity of a body while it comes.
struct BodyIdentification {
    private var digest = SHA256()
    private(set) var byteCount = 0

    /// Adds bytes.
    mutating func update(_ bytes: Span<UInt8>) {
        digest.update(bytes)
        byteCount += bytes.count
    }

    /// The identity of all bytes so far.
    var identity: BodyIdentity {
        BodyIdentity(byteCount: byteCount, sha256: digest.hexadecimal)
    }
}
