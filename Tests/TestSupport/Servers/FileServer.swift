// SPDX-License-Identifier: Apache-2.0

/// A server of files that breaks off, changes a file between two requests, and sends clients
/// elsewhere; it takes files by PUT.
package final class FileServer: Sendable {
    package struct File: Sendable {
        package var bytes: [UInt8]
        /// With its quotation marks; nil for none.
        package var tag: String?
        package var type: String?
        /// Lines that it was put with, and is told with.
        fileprivate var fields: [String] = []

        package init(_ bytes: [UInt8], tag: String? = "\"1\"", type: String? = nil) {
            (self.bytes, self.tag, self.type) = (bytes, tag, type)
        }

        fileprivate init(_ request: RecordedRequest) {
            self.init(request.body, tag: nil)
            fields = request.headers.filter { $0.name.lowercased().hasPrefix("x-amz-meta-") }
                .map { "\($0.name): \($0.value)" }
        }
    }

    /// How it treats requests that have nothing against them.
    package enum Mood: Sendable {
        /// It stores what it has not got, and answers 201.
        case kind
        /// It answers 503.
        case away
        /// It stores what it has not got, and answers 500.
        case confused
        /// Something else is there wherever a file would go.
        case full
    }

    /// What it has, and how it treats requests.
    package struct Contents: Sendable {
        /// By their paths.
        package var files: [String: File] = [:]
        package var mood = Mood.kind
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
        /// Whether a connection may have more requests.
        fileprivate var keepsConnections = false
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
            if mood == .away { return head(503, fields) }
            let known = mood == .full ? File([1, 2, 3], tag: nil) : files[path]
            if request.method == "PUT" {
                if known != nil { return head(412, fields) }
                files[path] = File(request)
                return head(mood == .confused ? 500 : 201, fields)
            }
            guard let file = known else { return head(404, []) }
            var fields = fields + file.fields + (file.tag.map { ["ETag: \($0)"] } ?? [])
            if let type = file.type { fields.append("Content-Type: \(type)") }
            if request.method == "HEAD" { return head(200, fields, length: file.bytes.count) }
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
                + (hidesLength ? [] : ["Content-Length: \(length)"])
                + (keepsConnections ? [] : ["Connection: close"]) + fields
            return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        }
    }

    package let server: RecordingServer
    private let contents: Observed<Contents>

    /// Starts one.
    ///
    /// - Parameters:
    ///   - files: what it has at first, by their paths.
    ///   - gate: an answer that breaks off is followed by nothing until it opens; without it, by the
    ///     end of the connection.
    ///   - keepsConnections: whether a connection may have more requests.
    ///   - before: steps between the first, second, … request and its answer.
    /// - Throws: `SystemError` when no socket or thread is to be had.
    package init(
        _ files: [String: File] = [:], stallingUntil gate: Gate? = nil,
        keepsConnections: Bool = false, before: [[ServerStep]] = []
    ) throws {
        let contents = Observed(Contents(files: files, keepsConnections: keepsConnections))
        self.contents = contents
        var answer: [ServerStep] = [
            .sendRawBy { request in contents.update { $0.answer(request) } }
        ]
        if let gate { answer.append(.stallUntil(gate)) }
        if !keepsConnections { answer.append(.close) }
        let read: [ServerStep] = [.readHead, .readBodyToEnd]
        server = try RecordingServer(
            scripts: before.map { read + $0 + answer }, otherwise: read + answer)
    }

    package func url(_ path: String) -> String { server.url(path) }

    /// Changes what it has; from any thread.
    package func change(_ body: (inout Contents) -> Void) { contents.update { body(&$0) } }

    /// The requests so far, in the order of their first bytes.
    package var requests: [RecordedRequest] { server.requests.filter { !$0.requestLine.isEmpty } }

    package var mood: Mood {
        get { contents.look { $0.mood } }
        set { contents.update { $0.mood = newValue } }
    }

    /// The bytes of its files, by their paths.
    package var files: [String: [UInt8]] { contents.look { $0.files.mapValues(\.bytes) } }

    /// Waits until it has so many files; false when they do not come.
    package func wait(untilFiles count: Int) async -> Bool {
        await contents.wait(within: .patience) { $0.files.count >= count ? true : nil } ?? false
    }

    /// The only file whose path has this end.
    package subscript(suffix: String) -> [UInt8]? {
        let found = files.filter { $0.key.hasSuffix("." + suffix) }
        return found.count == 1 ? found.first?.value : nil
    }
}
