// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cassettes
@testable import RecognitionEndpoint

@Suite struct CassetteServerTests {
    /// Runs a server while `body` runs, on a thread of its own.
    ///
    /// - Returns: what was served.
    @discardableResult
    private func run(
        _ cassettes: [Cassette], _ body: @escaping @Sendable (Int) throws -> Void
    ) async throws -> [CassetteServer.Served] {
        let served = Observed<[CassetteServer.Served]>([])
        let server = CassetteServer.make(cassettes) { request in
            served.update { $0.append(request) }
        }
        let (ports, ready) = AsyncStream.makeStream(of: Int.self)
        let running = Task {
            defer { ready.finish() }
            try await server.run { ready.yield($0) }
        }
        defer { server.shutdown() }
        let port = try #require(await ports.first { _ in true })
        try await onThread { try body(port) }
        server.shutdown()
        try await running.value
        return served.look { $0 }
    }

    private func cassette(
        _ url: String, status: Int = 200, _ pieces: [CassettePiece]
    ) -> Cassette {
        var request = Cassette.Request(url: url)
        request.headers = [
            CassetteField("Content-Type", "audio/wav"), CassetteField("Authorization", "Token …"),
        ]
        var response = Cassette.Response(status: status)
        response.headers = [CassetteField("Content-Type", "application/json")]
        response.body = pieces
        return Cassette(request, response)
    }

    private static let fields = ["Content-Type: audio/wav", "Authorization: Token x"]

    @Test func requestsAreAnsweredInTheirOrderAndThenAnew() async throws {
        let tape = ["one", "two"].map { name in
            cassette("https://speech.example/\(name)", [CassettePiece(Array(name.utf8))])
        }
        let served = try await run(tape) { port in
            for name in ["one", "two", "one"] {
                let (head, body) = try RawClient(port: port).post(
                    Array("voice".utf8), Self.fields, to: "/\(name)")
                #expect(head.status == 200)
                #expect(body == name)
            }
        }
        #expect(served.map(\.number) == [0, 1, 0])
        #expect(served.map(\.byteCount) == [5, 5, 5])
        #expect(served.allSatisfy { $0.differences.isEmpty })
    }

    @Test func anotherRequestHearsWhatDiffersAndTheCassetteWaits() async throws {
        let tape = [cassette("https://speech.example/one?a=1", [CassettePiece(Array("hi".utf8))])]
        let served = try await run(tape) { port in
            let (head, body) = try RawClient(port: port).post(
                [], ["Content-Type: audio/ogg"], to: "/two?a=2")
            #expect(head.status == 422)
            for part in ["/two", "'2', not '1'", "audio/ogg", "Authorization is missing"] {
                #expect(body.contains(part), "\(body)")
            }
            let (again, text) = try RawClient(port: port).post([], Self.fields, to: "/one?a=1")
            #expect(again.status == 200)
            #expect(text == "hi")
        }
        #expect(served.map { $0.differences.count } == [4, 0])
    }

    @Test func aPartialComesOnceItsBytesHaveCome() async throws {
        var tape = cassette(
            "https://speech.example/",
            [CassettePiece(Array("go".utf8), after: 10), CassettePiece(Array("on".utf8))])
        tape.response?.after = 10
        try await run([tape]) { port in
            let client = try RawClient(port: port)
            try client.sendHead("/", Self.fields)
            try client.sendChunk([UInt8](repeating: 0, count: 10))
            // Before the body's end.
            #expect(try client.readHead().status == 200)
            #expect(try client.readChunk() == "go")
            try client.sendEnd([UInt8](repeating: 0, count: 10))
            #expect(try client.readChunk() == "on")
            #expect(try client.readChunk() == "")
        }
    }

    @Test func anEarlyRefusalComesBeforeTheBody() async throws {
        var refusal = cassette("https://speech.example/", status: 401, [])
        refusal.response?.after = 0
        try await run([refusal]) { port in
            let client = try RawClient(port: port)
            try client.sendHead("/", Self.fields)
            #expect(try client.readHead().status == 401)
        }
    }

    @Test func whatBrokeOffBreaksOff() async throws {
        var broken = cassette("https://speech.example/", [CassettePiece(Array("half".utf8))])
        broken.ending = "connection-lost"
        var silent = broken
        silent.response = nil
        let served = try await run([broken, silent]) { port in
            let client = try RawClient(port: port)
            try client.sendHead("/", Self.fields)
            try client.sendEnd()
            let all = try client.readTextToEnd()
            #expect(all.contains("half"))
            #expect(!all.contains("0\r\n\r\n"))
            let second = try RawClient(port: port)
            try second.sendHead("/", Self.fields)
            try second.sendEnd()
            #expect(try second.readToEnd() == [])
        }
        #expect(served.count == 2)
    }

    @Test func itsOwnOriginTakesThePlaceOfTheRecordedOne() async throws {
        var job = cassette(
            "https://speech.example/upload",
            [CassettePiece(Array(#"{"url":"https://speech.example/jobs/7"}"#.utf8))])
        job.response?.headers.append(CassetteField("Location", "https://speech.example/jobs/7"))
        try await run([job]) { port in
            let (head, body) = try RawClient(port: port).post([], Self.fields, to: "/upload")
            #expect(body.contains("/jobs/7"))
            #expect(!body.contains("speech.example"))
            #expect(head.fields["location"]?.contains("speech.example") == false)
        }
    }
}
