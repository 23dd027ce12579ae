// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// An answer that says why there is no text.
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

    /// As many recognitions are running as there may be.
    static let busy = Refusal(
        503, "as many recognitions are running as this endpoint is allowed",
        fields: [.retryAfter: "1"])
}
