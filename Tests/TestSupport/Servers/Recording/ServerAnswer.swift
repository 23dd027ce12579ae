// SPDX-License-Identifier: Apache-2.0

/// A response that a test makes while it runs.
package struct ServerAnswer: Sendable, Hashable {
    /// The status (RFC 9110 §15).
    package var status: Int
    /// The fields beside `Content-Length`.
    package var headers: [HeaderField]
    package var text: String

    package init(status: Int = 200, headers: [HeaderField] = [], text: String) {
        self.status = status
        self.headers = headers
        self.text = text
    }
}
