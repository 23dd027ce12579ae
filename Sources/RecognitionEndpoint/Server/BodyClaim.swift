// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

/// What a request's head says about its body: which recording it is, and its digest.
struct BodyClaim: Sendable, Equatable {
    private static let longestKey = 255

    /// The value of `Idempotency-Key`, the same for every attempt to send one recording; nil
    /// without one.
    var key: String?
    /// The value of `Content-Digest` (RFC 9530 §2), or nil without one.
    var digest: String?

    /// Reads the fields of a head.
    init(_ fields: HTTPFields) throws(Refusal) {
        key = HTTPField.Name("Idempotency-Key").flatMap { fields[$0] }
        digest = HTTPField.Name("Content-Digest").flatMap { fields[$0] }
        if let key, key.isEmpty || key.utf8.count > Self.longestKey {
            throw Refusal(
                400, "the Idempotency-Key is empty or longer than \(Self.longestKey) bytes")
        }
    }
}
