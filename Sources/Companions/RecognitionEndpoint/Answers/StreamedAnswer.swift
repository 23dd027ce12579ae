// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

struct StreamedAnswer: ~Copyable {
    private var unused: ResponseWriter?
    private var begun: (any ResponseBodyWriter)?
    private let format: AnswerFormat
    private var told = ToldText()
    /// Fields of the head, beside those that all answers have.
    var fields: HTTPFields
    var status = 200

    init(_ writer: consuming ResponseWriter, format: AnswerFormat, fields: HTTPFields = [:]) {
        unused = consume writer
        self.format = format
        self.fields = fields
    }

    var hasBegun: Bool { begun != nil }

    @concurrent mutating func write(_ partial: PartialRecognition) async throws {
        let isStreamed = partial.isStreamed && format == .object
        guard format == .lines || isStreamed else { return }
        let text = isStreamed ? news(in: partial.settled) : AnswerFormat.partial(partial)
        guard !text.isEmpty else { return }
        try await begin(isStreamed ? AnswerFormat.eventType : format.mediaType)
        try await begun?.write(ByteBuffer(string: text))
    }

    /// The event that tells what has come to the text, if anything has.
    private mutating func news(in text: String) -> String {
        let news = told.news(in: text)
        return news.isEmpty
            ? "" : AnswerFormat.event(AnswerLine(type: "transcript.text.delta", delta: news))
    }

    @concurrent mutating func finish(_ recognition: Recognition) async throws {
        let isStreamed = recognition.isStreamed == true && format == .object
        let text =
            isStreamed
            ? news(in: recognition.text)
                + AnswerFormat.event(
                    AnswerLine(type: "transcript.text.done", text: recognition.text))
            : format.final(recognition)
        guard let writer = unused.take() else { return try await end(with: text) }
        var head = HTTPResponse.make(
            status, isStreamed ? AnswerFormat.eventType : format.mediaType(of: recognition),
            byteCount: text.utf8.count)
        head.headerFields.append(contentsOf: fields)
        try await writer.write(
            response: head, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    @concurrent mutating func breakOff(_ recognition: Recognition) async throws {
        let text = format.final(recognition)
        try await begin(format.mediaType)
        let half = text.utf8.prefix(text.utf8.count / 2)
        try await begun?.write(ByteBuffer(bytes: half))
    }

    /// Says what went wrong: with a status, or in a last line when the text had begun.
    @concurrent mutating func fail(_ refusal: Refusal) async throws {
        guard let writer = unused.take() else {
            return try await end(
                with: AnswerFormat.error(refusal.message, isEvent: format == .object))
        }
        try await writer.refuse(refusal, closes: true)
    }

    /// Writes a head before the answer's own; without effect once that has begun.
    @concurrent mutating func inform(_ head: HTTPResponse) async throws {
        guard let writer = unused.take() else { return }
        do {
            try await writer.writeInformationalHead(head)
            unused = consume writer
        }
    }

    @concurrent mutating func acknowledge(_ head: HTTPResponse) async throws {
        try await unused.take()?.writeResponse(head)
    }

    @concurrent private mutating func begin(_ mediaType: String) async throws {
        guard let writer = unused.take() else { return }
        var head = HTTPResponse.make(status, mediaType, byteCount: nil)
        // Asks proxies to hand on what comes as it comes (RFC 10036).
        head.headerFields.append(contentsOf: HTTPFields(named: [("Incremental", "?1")]))
        head.headerFields.append(contentsOf: fields)
        begun = try await writer.writeHead(head)
    }

    @concurrent private mutating func end(with text: String) async throws {
        try await begun?.write(ByteBuffer(string: text))
        try await begun.take()?.finish(nil)
    }
}

/// A text that is told in pieces, as it grows.
struct ToldText {
    private var text = ""

    /// The end that the text has got; empty for none, and where the text has changed before its end.
    mutating func news(in newer: String) -> String {
        guard newer.count > text.count, newer.hasPrefix(text) else { return "" }
        defer { text = newer }
        return String(newer.dropFirst(text.count))
    }
}

extension ResponseWriter {
    /// Lets a client go on that sends its body only when it is wanted (RFC 9110 §10.1.1).
    @concurrent func inviteBody(of request: Request) async throws {
        guard request.headers[.expect]?.lowercased() == "100-continue" else { return }
        try await writeInformationalHead(HTTPResponse(status: .continue))
    }

    @concurrent consuming func refuse(_ refusal: Refusal, closes: Bool) async throws {
        let text = refusal.problem ?? AnswerFormat.refusal(refusal.message)
        let type = refusal.problem == nil ? "application/json" : "application/problem+json"
        var head = HTTPResponse.make(refusal.status, type, byteCount: text.utf8.count)
        head.headerFields.append(contentsOf: refusal.fields)
        if closes { head.headerFields[.connection] = "close" }
        try await write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

extension HTTPResponse {
    /// The head of an answer; without a length, the body is sent in chunks or to HTTP/1.0 as it is.
    static func make(_ status: Int, _ mediaType: String, byteCount: Int?) -> HTTPResponse {
        var head = HTTPResponse(status: Status(integerLiteral: status))
        head.headerFields[.contentType] = mediaType
        head.headerFields[.cacheControl] = "no-store"
        if let byteCount {
            head.headerFields[.contentLength] = String(byteCount)
        } else {
            head.headerFields[.transferEncoding] = "chunked"
        }
        return head
    }
}
