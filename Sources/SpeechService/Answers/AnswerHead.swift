// SPDX-License-Identifier: Apache-2.0

/// What the head of a response tells about the answer.
package struct AnswerHead: Sendable {
    /// The value of its `Content-Type` field, or nil without one.
    package var mediaType: String?
    /// All its fields, names in lower case.
    package var headers: [(name: String, value: String)]

    /// Creates a head.
    package init(mediaType: String? = nil, headers: [(name: String, value: String)] = []) {
        self.mediaType = mediaType
        self.headers = headers
    }

    /// The value of the first field of that name, which may have capitals.
    func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name == name }?.value
    }
}
