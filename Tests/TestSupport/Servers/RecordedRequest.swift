// SPDX-License-Identifier: Apache-2.0

/// One request as it came over the socket, with the time of everything in it.
package struct RecordedRequest: Sendable {
    /// The number of the connection, from 0, in the order of their acceptance.
    package let connection: Int

    package let acceptedAt: MonotonicTime

    /// The request line without its end; empty until the head is there.
    package internal(set) var requestLine = ""

    package internal(set) var headers: [HeaderField] = []

    /// When the blank line after the header fields was read.
    package internal(set) var headEndedAt: MonotonicTime?

    /// The decoded body, with the bytes of a chunk that is not complete yet.
    package internal(set) var body: [UInt8] = []

    /// The complete chunks; the last chunk, of size 0, is not among them.
    package internal(set) var chunks: [RecordedChunk] = []

    /// When the last chunk (RFC 9112 §7.1), with its trailers, was read.
    package internal(set) var lastChunkAt: MonotonicTime?

    /// What broke the rules of RFC 9112; after the first of them the body is not decoded further.
    package internal(set) var framingErrors: [String] = []

    /// When bytes of a response were handed to the socket, one entry a step.
    package internal(set) var sentAt: [MonotonicTime] = []

    /// Whether the head and the whole body came.
    package internal(set) var isComplete = false

    /// Whether all steps are done, and the request has ended or its connection is closed.
    package internal(set) var isFinished = false

    init(connection: Int, acceptedAt: MonotonicTime) {
        self.connection = connection
        self.acceptedAt = acceptedAt
    }

    /// The method, such as "POST"; empty until the head is there.
    package var method: String { part(0) }

    package var target: String { part(1) }

    /// All values of the field `name`, whatever the case of its letters.
    package func values(of name: String) -> [String] {
        headers.filter { $0.isNamed(name) }.map(\.value)
    }

    /// The value of the field `name`, or nil when it is absent or there are several.
    package subscript(name: String) -> String? {
        let all = values(of: name)
        return all.count == 1 ? all.first : nil
    }

    private func part(_ number: Int) -> String {
        let parts = requestLine.split(separator: " ", omittingEmptySubsequences: false)
        return number < parts.count ? String(parts[number]) : ""
    }
}

/// One chunk of a chunked request body, as it came.
///
/// For a body with a `Content-Length` each `recv(2)` counts as a chunk.
package struct RecordedChunk: Sendable, Hashable {
    /// The chunk's bytes without their framing.
    package let byteCount: Int
}

/// One line of a message's head: a name and its value (RFC 9112 §5).
package struct HeaderField: Sendable, Hashable {
    package let name: String

    /// The value without the white space around it.
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether this field is called `name`, whatever the case of its letters.
    package func isNamed(_ name: String) -> Bool {
        self.name.lowercased() == name.lowercased()
    }
}
