// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

/// Several transfers over one connection, and what happens when it is not what it seems.
@Suite final class ConnectionReuseTests {
    private let loop: TransferLoop

    init() throws { loop = try TransferLoop() }
    deinit { loop.shutDown() }

    /// Sends over a connection that was left, if there is one, and leaves it for the next.
    private func send(
        _ bytes: [UInt8], to server: RecordingServer, isSealed: Bool = true
    ) throws -> Upload {
        try Upload(to: server.url(), bytes, isSealed: isSealed, on: loop) {
            $0.longestIdleTime = .seconds(600)
            $0.leavesConnection = true
        }
    }

    private func leaveConnection(to server: RecordingServer) async throws {
        let first = try send(bytes(640), to: server)
        #expect(try await !first.expectAnswer().hasReusedConnection)
    }

    @Test func oneConnectionCarriesWhatIsSentOneAfterTheOther() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        try await leaveConnection(to: server)
        for number in 1..<6 {
            let upload = try send(bytes(100_000, from: number), to: server)
            #expect(try await upload.expectAnswer().hasReusedConnection)
            let request = try #require(await server.finishedRequest(number))
            #expect(request.body == bytes(100_000, from: number))
            #expect(request.framingErrors.isEmpty)
        }
        #expect(server.connectionCount == 1)
    }

    @Test func aTransferThatWantsItsOwnConnectionHasIt() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        try await leaveConnection(to: server)
        let own = try Upload(to: server.url(), bytes(640), isSealed: true, on: loop)
        #expect(try #require(await own.result()).hasReusedConnection == false)
        #expect(server.connectionCount == 2)
    }

    /// The server's steps with the second request, the bytes of its body, and whether all are out.
    @Test(
        arguments: [
            ([.readHead, .close], 3_000_000, nil), ([.readHead, .reset], 3_000_000, nil),
            ([.readHead, .readBody(bytes: 1), .reset], 3_000_000, nil),
            ([.readHead, .readBodyToEnd, .close], 3_000_000, true),
            ([.readHead, .readBodyToEnd, .reset], 640, true),
            // With nothing of a body libcurl would need no rewinding.
            ([.readHead, .close], 0, nil), ([.readHead, .reset], 0, nil),
            // The answer before it has an empty chunk behind it.
            ([.readHead, .sendRaw(Array("0\r\n\r\n".utf8)), .close], 3_000_000, nil),
        ] as [([ServerStep], Int, Bool?)])
    func libcurlMakesNoRequestAgain(
        _ death: [ServerStep], _ byteCount: Int, _ isBodyComplete: Bool?
    ) async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "one"), death], otherwise: .answer(text: "again"))
        try await leaveConnection(to: server)
        let upload = try send(bytes(byteCount), to: server, isSealed: byteCount > 0)
        let result = try #require(await upload.result())
        _ = try result.reason { .connectionLost($0) }
        #expect(result.hasReusedConnection)
        if let isBodyComplete { #expect(result.isBodyComplete == isBodyComplete) }
        if byteCount == 0 { #expect(result.sentByteCount == 0) }
        #expect(upload.recorder.record.look { $0.connects } == 1)
        loop.shutDown()
        #expect(server.requests.count == 2)
    }

    @Test func whatWasNotAskedForIsNoAnswer() async throws {
        let mayLie = Gate()
        let hasLied = Gate()
        let lie = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlies"
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBodyToEnd, .respond(status: 200, text: "one"),
                    .stallUntil(mayLie), .sendRaw(Array(lie.utf8)), .open(hasLied),
                ]
            ], otherwise: .answer(text: "the truth"))
        try await leaveConnection(to: server)
        mayLie.open()
        #expect(await hasLied.wait())
        let upload = try send(bytes(640), to: server)
        let result = try #require(await upload.result())
        // libcurl sees the lie before it makes the request, or with it.
        if result.ending == .answered {
            #expect(upload.recorder.text == "the truth")
        } else {
            _ = try result.reason { .connectionLost($0) }
            #expect(result.sentByteCount == 0)
            #expect(upload.recorder.text == "")
            #expect(server.requests.count == 1)
        }
    }
}

/// Cookies live as long as a take, and go no further.
@Suite struct CookieTests {
    private func server() throws -> RecordingServer {
        try RecordingServer(
            otherwise: .answer(
                headers: [TestSupport.HeaderField("Set-Cookie", "node=b7; Path=/")], text: "heard"))
    }

    /// Sends to one URL after the other, each time in the session beside it, over one loop.
    private func send(to urls: [String], in sessions: [TransferSession?]) async throws {
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        for (url, session) in zip(urls, sessions) {
            let upload = try Upload(to: url, bytes(640), isSealed: true, on: loop) {
                $0.session = session
            }
            try await upload.expectAnswer()
        }
    }

    @Test func theNextRequestOfATakeBringsThemAndThatOfAnotherDoesNot() async throws {
        let server = try server()
        let (one, other) = (TransferSession(), TransferSession())
        try await send(
            to: Array(repeating: server.url(), count: 4), in: [one, one, other, nil])
        #expect(server.requests.map { $0["Cookie"] } == [nil, "node=b7", nil, nil])
    }

    @Test(.spec("RFC 6454 §4")) func anotherPortOfTheHostDoesNotGetThem() async throws {
        let (server, another) = (try server(), try server())
        let session = TransferSession()
        try await send(
            to: [server.url(), another.url(), server.url()], in: [session, session, session])
        #expect(another.requests.map { $0["Cookie"] } == [nil])
        #expect(server.requests.map { $0["Cookie"] } == [nil, "node=b7"])
    }

    @Test func anotherHostDoesNotGetThem() async throws {
        let (server, another) = (try server(), try server())
        let session = TransferSession()
        let elsewhere = another.url().replacing("127.0.0.1", with: "localhost")
        try await send(to: [server.url(), elsewhere], in: [session, session])
        #expect(another.requests.map { $0["Cookie"] } == [nil])
    }
}
