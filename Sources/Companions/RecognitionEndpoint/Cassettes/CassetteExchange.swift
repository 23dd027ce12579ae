// SPDX-License-Identifier: Apache-2.0

internal import Cassettes
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import Synchronization

struct CassetteExchange: Sendable {
    let request: Request
    let connection: Connection
    let tape: CassetteTape
    let clock: CassetteClock
    let onRequest: @Sendable (CassetteServer.Served) -> Void

    @concurrent func answer(_ writer: consuming ResponseWriter) async throws {
        let headers = request.headers.map { CassetteField($0.name.canonicalName, $0.value) }
        let (cassette, number, differences) = tape.take(
            method: request.method.rawValue, target: request.head.path ?? "/", headers: headers,
            asksForSocket: request.headers[.upgrade] != nil)
        let upload = CassetteUpload()
        let served = { [onRequest] in
            onRequest(
                CassetteServer.Served(
                    number: number, cassette: cassette, differences: differences,
                    byteCount: upload.byteCount))
        }
        try await writer.inviteBody(of: request)
        guard differences.isEmpty else {
            // Read first, so that a client that sends all before it listens hears the answer.
            for try await buffer in request.body { upload.add(buffer.readableBytes) }
            served()
            let text = "the request is not the cassette's: " + differences.joined(separator: "; ")
            return try await writer.refuse(Refusal(422, text), closes: false)
        }
        async let uploaded: Void = upload.take(request.body)
        guard let response = cassette.response else {
            try await uploaded
            served()
            await connection.close()
            throw Connection.End()
        }
        try await clock.wait(for: upload, response.after, response.ms)
        let origin = "http://\(request.head.authority ?? "localhost")"
        var begun = try await writer.writeHead(head(response, origin: origin))
        // Also when the client has read enough, and leaves.
        defer { served() }
        for piece in response.body {
            try await clock.wait(for: upload, piece.after, piece.ms)
            try await begun.write(ByteBuffer(bytes: tape.relocated(piece.bytes, to: origin)))
        }
        guard cassette.ending == nil || cassette.ending == "answered" else {
            await connection.close()
            throw Connection.End()
        }
        let isEarly = !upload.isComplete
        try await begun.finish(nil)
        if isEarly, response.status >= 300 {
            // A client that was refused sends no more.
            let deadline = await connection.linger()
            defer { deadline.cancel() }
            // The answer has gone out, so an error cannot be answered any more.
            try? await uploaded
            throw Connection.End()
        }
        try await uploaded
    }

    private func head(_ response: Cassette.Response, origin: String) -> HTTPResponse {
        var head = HTTPResponse(status: .init(code: response.status))
        for field in response.headers {
            guard let name = HTTPField.Name(field.name) else { continue }
            head.headerFields.append(
                HTTPField(name: name, value: tape.relocated(field.value, to: origin)))
        }
        for name in [HTTPField.Name.contentLength, .contentEncoding, .connection] {
            head.headerFields[name] = nil
        }
        head.headerFields[.transferEncoding] = "chunked"
        return head
    }
}

/// The time of a cassette, which begins with its request.
struct CassetteClock: Sendable {
    let speed: CassetteServer.Speed
    private let began = ContinuousClock.now

    init(_ speed: CassetteServer.Speed) { self.speed = speed }

    /// Waits until this many bytes have come, or the body has ended, and until the time has come.
    @concurrent func wait(
        for upload: CassetteUpload, _ byteCount: Int?, _ milliseconds: Double?
    ) async throws {
        await upload.wait(forBytes: byteCount ?? .max)
        guard let milliseconds, let time = speed.duration(ofMilliseconds: milliseconds) else {
            return
        }
        let rest = began + time - .now
        if rest > .zero { try await Task.sleep(for: rest) }
    }
}

/// Counts the bytes of a request's body, for an answer that waits for some of them.
final class CassetteUpload: Sendable {
    private struct State {
        var byteCount = 0
        var isComplete = false
        var waiting: [(byteCount: Int, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func due() -> [CheckedContinuation<Void, Never>] {
            let due = waiting.filter { isComplete || byteCount >= $0.byteCount }
            waiting.removeAll { isComplete || byteCount >= $0.byteCount }
            return due.map(\.continuation)
        }
    }

    private let state = Mutex(State())

    var byteCount: Int { state.withLock { $0.byteCount } }
    var isComplete: Bool { state.withLock { $0.isComplete } }

    /// Nothing more comes.
    func end() { change { $0.isComplete = true } }

    func add(_ count: Int) { change { $0.byteCount += count } }

    /// Takes the body to its end, or to where it breaks off.
    @concurrent func take(_ body: RequestBody) async throws {
        // However it ends, nothing waits for more.
        defer { end() }
        for try await buffer in body { add(buffer.readableBytes) }
    }

    /// Until so many have come, or the body is over.
    @concurrent func wait(forBytes count: Int) async {
        await withCheckedContinuation { continuation in
            change { $0.waiting.append((count, continuation)) }
        }
    }

    private func change(_ body: (inout sending State) -> Void) {
        let due = state.withLock { state in
            body(&state)
            return state.due()
        }
        for continuation in due { continuation.resume() }
    }
}
