// SPDX-License-Identifier: Apache-2.0

/// A response that a test makes while it runs.
public struct ServerAnswer: Sendable, Hashable {
    /// The status (RFC 9110 §15).
    public var status: Int
    /// The fields beside `Content-Length`.
    public var headers: [HeaderField]
    /// The body.
    public var text: String

    /// Describes a response.
    public init(status: Int = 200, headers: [HeaderField] = [], text: String) {
        self.status = status
        self.headers = headers
        self.text = text
    }
}
