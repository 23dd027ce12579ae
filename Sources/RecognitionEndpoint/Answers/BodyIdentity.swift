// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import FoundationEssentials
internal import HTTPTypes

/// By what a whole body is known again: its length and its SHA-256.
///
/// An id alone would not do: a body that was cut and one that is whole have the same.
struct BodyIdentity: Sendable {
    private var digest = SHA256()
    private(set) var byteCount = 0

    mutating func add(_ bytes: Span<UInt8>) {
        digest.update(bytes)
        byteCount += bytes.count
    }

    func isSame(as other: BodyIdentity) -> Bool {
        byteCount == other.byteCount && digest.bytes == other.digest.bytes
    }

    /// Whether a `Content-Digest` field (RFC 9530 §2) is about this body; true for other
    /// algorithms than SHA-256, and without one.
    func agrees(with contentDigest: String?) -> Bool {
        let members = (contentDigest ?? "").split(separator: ",").map { $0.drop { $0 == " " } }
        guard let stated = members.first(where: { $0.hasPrefix("sha-256=:") }) else { return true }
        return stated == "sha-256=:\(Data(digest.bytes).base64EncodedString()):"
    }
}

/// What a request's head says about its body: which recording it is, and its digest.
struct BodyClaim: Sendable, Equatable {
    private static let longestKey = 255

    /// The value of `Idempotency-Key`, the same for every attempt to send one recording; nil
    /// without one.
    var key: String?
    /// The value of `Content-Digest` (RFC 9530 §2), or nil without one.
    var digest: String?

    init(_ fields: HTTPFields) throws(Refusal) {
        key = HTTPField.Name("Idempotency-Key").flatMap { fields[$0] }
        digest = HTTPField.Name("Content-Digest").flatMap { fields[$0] }
        if let key, key.isEmpty || key.utf8.count > Self.longestKey {
            throw Refusal(
                400, "the Idempotency-Key is empty or longer than \(Self.longestKey) bytes")
        }
    }
}
