// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

/// Several transfers over one connection, and what happens when it is not what it seems.
@Suite struct ConnectionReuseTests {
    private func reusing(_ request: inout TransferRequest) {
        request.longestIdleTime = .seconds(600)
        request.leavesConnection = true
    }

    /// A transfer that leaves its connection for the next one.
    private func leaveConnection(to server: RecordingServer, on loop: TransferLoop) async throws {
        let first = try Upload(
            to: server.url(), bytes(640), isSealed: true, on: loop, change: reusing)
        #expect(try await !first.expectAnswer().hasReusedConnection)
    }

    @Test func oneConnectionCarriesWhatIsSentOneAfterTheOther() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        try await leaveConnection(to: server, on: loop)
        for number in 1..<6 {
            let upload = try Upload(
                to: server.url(), bytes(100_000, from: number), isSealed: true, on: loop,
                change: reusing)
            #expect(try await upload.expectAnswer().hasReusedConnection)
            let request = try #require(await server.finishedRequest(number))
            #expect(request.body == bytes(100_000, from: number))
            #expect(request.framingErrors.isEmpty)
        }
        #expect(server.connectionCount == 1)
    }

    @Test func aTransferThatWantsItsOwnConnectionHasIt() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        try await leaveConnection(to: server, on: loop)
        let own = try Upload(to: server.url(), bytes(640), isSealed: true, on: loop)
        #expect(try #require(await own.result()).hasReusedConnection == false)
        #expect(server.connectionCount == 2)
    }

    struct Death: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [ServerStep]
        /// With nothing of a body libcurl would need no rewinding.
        var bodyByteCount = 3_000_000
        var isBodyComplete: Bool?
    }

    @Test(arguments: [
        Death(testDescription: "closed after the head", steps: [.readHead, .close]),
        Death(testDescription: "reset after the head", steps: [.readHead, .reset]),
        Death(
            testDescription: "reset in the body", steps: [.readHead, .readBody(bytes: 1), .reset]),
        Death(
            testDescription: "closed after the body", steps: [.readHead, .readBodyToEnd, .close],
            isBodyComplete: true),
        Death(
            testDescription: "reset after a short body",
            steps: [.readHead, .readBodyToEnd, .reset], bodyByteCount: 640, isBodyComplete: true),
        Death(
            testDescription: "closed after a head alone", steps: [.readHead, .close],
            bodyByteCount: 0),
        Death(
            testDescription: "reset after a head alone", steps: [.readHead, .reset],
            bodyByteCount: 0),
        Death(
            testDescription: "an empty chunk behind the answer before it",
            steps: [.readHead, .sendRaw(Array("0\r\n\r\n".utf8)), .close]),
    ]) func libcurlMakesNoRequestAgain(_ death: Death) async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "one"), death.steps], otherwise: .answer(text: "again"))
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        try await leaveConnection(to: server, on: loop)
        let upload = try Upload(
            to: server.url(), bytes(death.bodyByteCount), isSealed: death.bodyByteCount > 0,
            on: loop, change: reusing)
        let result = try #require(await upload.result())
        _ = try result.reason { .connectionLost($0) }
        #expect(result.hasReusedConnection)
        if let isComplete = death.isBodyComplete { #expect(result.isBodyComplete == isComplete) }
        if death.bodyByteCount == 0 { #expect(result.sentByteCount == 0) }
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
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        try await leaveConnection(to: server, on: loop)
        mayLie.open()
        #expect(await hasLied.wait())
        let upload = try Upload(
            to: server.url(), bytes(640), isSealed: true, on: loop, change: reusing)
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

    /// TLS has records of its own on a connection that is idle: they are no reason against it.
    @Test func connectionsWithTLSAreUsedAgain() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let front = try await TLSFront(to: server.port)
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        for number in 0..<5 {
            let upload = try Upload(
                to: front.url(), bytes(100_000, from: number), isSealed: true, on: loop
            ) {
                $0.connection.certificateFile = front.certificateFile
                reusing(&$0)
            }
            try await upload.expectAnswer()
            #expect(try #require(await server.finishedRequest(number)).body.count == 100_000)
        }
        #expect(server.frontConnectionCount == 1)
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
