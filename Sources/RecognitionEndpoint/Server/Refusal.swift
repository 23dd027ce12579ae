// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

struct Refusal: Error, Sendable, Equatable {
    var status: Int
    var message: String
    var fields: HTTPFields = [:]

    init(_ status: Int, _ message: String, fields: HTTPFields = [:]) {
        self.status = status
        self.message = message
        self.fields = fields
    }

    init(_ failure: BodyFailure) {
        self.init(failure.status, failure.description)
    }

    /// A key stands for one recording (draft-ietf-httpapi-idempotency-key-header-07 §2.7).
    static let otherBody = Refusal(
        422, "another recording has been answered under this Idempotency-Key")

    static let firstFailed = Refusal(
        503, "the request before this one with the same key has failed",
        fields: [.retryAfter: "1"])

    static let busy = Refusal(
        503, "as many recognitions are running as this endpoint is allowed",
        fields: [.retryAfter: "1"])
}
