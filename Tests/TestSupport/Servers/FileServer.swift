// SPDX-License-Identifier: Apache-2.0

/// A server of files that breaks off, changes a file between two requests, and sends clients elsewhere.
package final class FileServer: Sendable {
    package struct File: Sendable {
        package var bytes: [UInt8]
        /// With its quotation marks; nil for none.
        package var tag: String?
        package var type: String?

        package init(_ bytes: [UInt8], tag: String? = "\"1\"", type: String? = nil) {
            (self.bytes, self.tag, self.type) = (bytes, tag, type)
        }
    }

    /// What it has, and how it treats requests.
    package struct Contents: Sendable {
        /// By their paths.
        package var files: [String: File] = [:]
        /// The next answers break off behind so many bytes of their bodies, one after the other.
        package var cuts: [Int] = []
        /// Whether it answers 200 with the whole file, whatever is asked for.
        package var ignoresRanges = false
        /// Whether it takes no notice of `If-Range`.
        package var ignoresTags = false
        /// Answers to ranges begin so many bytes earlier.
        package var lead = 0
        /// Whether it never says how long a file is.
        package var hidesTotal = false
        /// Whether the end of an answer is that of the connection.
        package var hidesLength = false
        /// Lines of each head.
        package var fields: [String] = []
        /// Where paths lead, as status and `Location`.
        package var moves: [String: (status: Int, location: String)] = [:]
        /// Statuses of paths, before anything else.
        package var refusals: [String: Int] = [:]
        /// Called for each request, before it is answered.
        package var prepare: (@Sendable (inout Contents, String) -> Void)?

        fileprivate mutating func answer(_ request: RecordedRequest) -> [UInt8] {
            prepare?(&self, request.target)
            let path = String(request.target.prefix { $0 != "?" })
            let cut = cuts.isEmpty ? nil : cuts.removeFirst()
            if let status = refusals[request.target] ?? refusals[path] {
                return head(status, fields)
            }
            if let move = moves[path] {
                return head(move.status, ["Location: \(move.location)"])
            }
            guard let file = files[path] else { return head(404, []) }
            var fields = fields + (file.tag.map { ["ETag: \($0)"] } ?? [])
            if let type = file.type { fields.append("Content-Type: \(type)") }
            if let tag = file.tag, request["If-None-Match"] == tag { return head(304, fields) }
            var (status, body) = (200, file.bytes[...])
            let isSame =
                ignoresTags
                || request["If-Range"].map {
                    $0 == file.tag || fields.contains("Last-Modified: \($0)")
                } ?? true
            if let range = request["Range"], !ignoresRanges, isSame {
                let ends = range.dropFirst("bytes=".count).split(
                    separator: "-", omittingEmptySubsequences: false
                ).map { Int($0) }
                let asked = ends.first.flatMap(\.self) ?? 0
                let total = hidesTotal ? "*" : "\(body.count)"
                guard asked < body.count else {
                    let range = hidesTotal ? [] : ["Content-Range: bytes */\(total)"]
                    return head(416, fields + range)
                }
                let first = max(0, asked - lead)
                let last = min(ends.last.flatMap(\.self) ?? .max, body.count - 1)
                fields.append("Content-Range: bytes \(first)-\(last)/\(total)")
                (status, body) = (206, body[first...last])
            }
            return head(status, fields, length: body.count) + body.prefix(cut ?? .max)
        }

        private func head(_ status: Int, _ fields: [String], length: Int = 0) -> [UInt8] {
            let lines =
                [hidesLength ? "HTTP/1.0 \(status) Status" : "HTTP/1.1 \(status) Status"]
                + (hidesLength ? [] : ["Content-Length: \(length)"]) + ["Connection: close"]
                + fields
            return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        }
    }

    package let server: RecordingServer
    private let contents: Observed<Contents>

    /// Starts one; an answer that breaks off is followed by the end of the connection, or by nothing
    /// until the gate opens.
    package init(_ files: [String: File] = [:], stallingUntil gate: Gate? = nil) throws {
        let contents = Observed(Contents(files: files))
        self.contents = contents
        var steps: [ServerStep] = [
            .readHead, .sendRawBy { request in contents.update { $0.answer(request) } },
        ]
        if let gate { steps.append(.stallUntil(gate)) }
        server = try RecordingServer(otherwise: steps + [.close])
    }

    package func url(_ path: String) -> String { server.url(path) }

    /// Changes what it has; from any thread.
    package func change(_ body: (inout Contents) -> Void) { contents.update { body(&$0) } }

    /// The requests so far, in the order of their first bytes.
    package var requests: [RecordedRequest] { server.requests.filter { !$0.requestLine.isEmpty } }
}
