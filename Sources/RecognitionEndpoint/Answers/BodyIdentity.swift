// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import FoundationEssentials

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
        let members = (contentDigest ?? "").split(separator: ",").map { $0.drop { $0 == " " } }
        guard let stated = members.first(where: { $0.hasPrefix("sha-256=:") }) else { return true }
        let digest = Data(
            stride(from: 0, to: sha256.utf8.count, by: 2).compactMap {
                UInt8(sha256.dropFirst($0).prefix(2), radix: 16)
            })
        return stated == "sha-256=:\(digest.base64EncodedString()):"
    }
}

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
