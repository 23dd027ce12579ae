// SPDX-License-Identifier: Apache-2.0

package struct AnswerHead: Sendable {
    /// Its fields, names in lower case.
    var headers: [(name: String, value: String)]

    package init(headers: [(name: String, value: String)] = []) { self.headers = headers }

    init(mediaType: String?) {
        headers = mediaType.map { [(name: "content-type", value: $0)] } ?? []
    }

    /// The value of its `Content-Type` field, or nil without one.
    package var mediaType: String? { header("content-type") }

    /// The value of the first field of that name, which may have capitals.
    func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name == name }?.value
    }
}
