// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

/// HTTP/2, against a server that speaks nothing else.
@Suite struct HTTP2Tests {
    private func upload(
        to server: HTTP2Server, _ bytes: [UInt8] = [], isSealed: Bool = false,
        version: HTTPVersion = .two, on loop: TransferLoop? = nil
    ) throws -> Upload {
        try Upload(to: server.url, bytes, isSealed: isSealed, on: loop) {
            $0.connection.certificateFile = server.certificateFile
            $0.connection.http = version
            $0.longestIdleTime = loop == nil ? nil : .seconds(600)
            $0.leavesConnection = loop != nil
        }
    }

    @Test func aBodyIsSentWhileItGrows() async throws {
        let server = try await HTTP2Server(answer: "heard in two")
        let upload = try upload(to: server)
        // Each piece is a frame of its own, of a length that tells which one.
        for length in [701, 809, 907] {
            try upload.append(bytes(length))
            #expect(await server.wait(for: "recv DATA frame <length=\(length),"))
        }
        upload.seal()
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.timings.httpVersion == "2")
        #expect(result.isBodyComplete)
        #expect(upload.recorder.text == "heard in two")
    }

    @Test func withoutTheWishOnlyHTTP1IsSpoken() async throws {
        let server = try await HTTP2Server(answer: "heard in two")
        let upload = try upload(to: server, bytes(640), isSealed: true, version: .one)
        let result = try #require(await upload.result())
        #expect(result.ending != .answered)
        #expect(result.timings.httpVersion == nil)
        #expect(!server.log.contains(":method: POST"))
    }

    @Test func aServiceWithoutItIsSpokenToInHTTP1() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard in one"))
        let front = try await TLSFront(to: server)
        let upload = try Upload(to: front.url(), bytes(640), isSealed: true) {
            $0.connection.certificateFile = front.certificateFile
            $0.connection.http = .two
        }
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.timings.httpVersion == "1.1")
        #expect(upload.recorder.text == "heard in one")
    }

    @Test func oneConnectionCarriesManyOneAfterTheOther() async throws {
        let server = try await HTTP2Server(answer: "heard in two")
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        for number in 0..<5 {
            let upload = try upload(to: server, bytes(100_000), isSealed: true, on: loop)
            let result = try #require(await upload.result())
            #expect(result.ending == .answered)
            #expect(result.hasReusedConnection == (number > 0))
        }
        #expect(server.handshakeCount == 1)
    }

    @Test func twoAtOnceDoNotShareAConnection() async throws {
        let server = try await HTTP2Server(answer: "heard in two")
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        let uploads = try (0..<2).map { _ in try upload(to: server, bytes(640), on: loop) }
        for upload in uploads { #expect(await upload.hasSent(640)) }
        for upload in uploads { upload.seal() }
        for upload in uploads {
            #expect(try #require(await upload.result()).ending == .answered)
        }
        #expect(server.handshakeCount == 2)
    }

    @Test func whatIsCancelledEndsItsStreamAndItsConnection() async throws {
        let server = try await HTTP2Server(answer: "heard in two")
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        let upload = try upload(to: server, bytes(640), on: loop)
        #expect(await server.wait(for: "recv DATA frame <length=640,"))
        upload.cancel()
        #expect(try #require(await upload.result()).ending == .cancelled)
        #expect(await server.wait(for: "[id=1] ["))
        #expect(await server.wait(for: "closed"))
        #expect(!server.log.contains("; END_STREAM"))
    }

    @Test func aStreamThatIsCutIsNoAnswer() async throws {
        let server = try await HTTP2Server(answer: "heard in two")
        let upload = try upload(to: server, bytes(640))
        #expect(await server.wait(for: "recv DATA frame <length=640,"))
        server.stop()
        _ = try #require(await upload.result()).reason { .connectionLost($0) }
    }
}
