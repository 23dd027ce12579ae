// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

/// HTTP/2, against a server that speaks nothing else.
@Suite struct HTTP2Tests {
    private func upload(
        to server: HTTP2Server, _ bytes: [UInt8], isSealed: Bool = false,
        version: HTTPVersion = .two, on loop: TransferLoop? = nil
    ) throws -> Upload {
        try Upload(to: server.url, bytes, isSealed: isSealed, on: loop) {
            $0.connection.certificateFile = server.certificateFile
            $0.connection.http = version
            $0.longestIdleTime = loop == nil ? nil : .seconds(600)
            $0.leavesConnection = loop != nil
        }
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
        let result = try await upload.expectAnswer(200, "heard in one")
        #expect(result.timings.httpVersion == "1.1")
    }

    @Test func oneConnectionCarriesManyOneAfterTheOther() async throws {
        let server = try await HTTP2Server(answer: "heard in two")
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        for number in 0..<5 {
            let upload = try upload(to: server, bytes(100_000), isSealed: true, on: loop)
            #expect(try await upload.expectAnswer().hasReusedConnection == (number > 0))
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
        for upload in uploads { try await upload.expectAnswer() }
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

/// A service behind nginx, over TLS and HTTP/2.
@Suite struct WebServerTests {
    private func upload(
        to server: WebServer, _ bytes: [UInt8], isSealed: Bool = false,
        _ version: HTTPVersion
    ) throws -> Upload {
        try Upload(to: server.url(), bytes, isSealed: isSealed) {
            $0.connection.certificateFile = server.certificateFile
            $0.connection.http = version
        }
    }

    @Test(arguments: HTTPVersion.allCases)
    func withoutBufferingTheBodyArrivesWhileItGrows(_ version: HTTPVersion) async throws {
        let service = try RecordingServer(otherwise: .answer(text: "heard"))
        let server = try await WebServer(to: service.port, buffers: false)
        let upload = try upload(to: server, [], version)
        var sent = 0
        for length in [701, 809] {
            try upload.append(bytes(length))
            sent += length
            #expect(await service.wait(untilBytes: sent) != nil)
        }
        upload.seal()
        let result = try await upload.expectAnswer(200, "heard")
        #expect(result.timings.httpVersion == version.rawValue)
        #expect(result.isBodyComplete)
        #expect(service.requests.first?.isComplete == true)
    }

    @Test(arguments: HTTPVersion.allCases)
    func withBufferingTheBodyArrivesWhole(_ version: HTTPVersion) async throws {
        let service = try RecordingServer(otherwise: .answer(text: "heard"))
        let server = try await WebServer(to: service.port, buffers: true)
        let upload = try upload(to: server, bytes(100_000), isSealed: true, version)
        try await upload.expectAnswer()
        #expect(service.requests.first?.body == bytes(100_000))
        #expect(service.requests.first?["Content-Length"] == "100000")
    }

    @Test(arguments: HTTPVersion.allCases)
    func aBodyThatIsTooLongIsRefusedInItsMiddle(_ version: HTTPVersion) async throws {
        let service = try RecordingServer(otherwise: .answer(text: "heard"))
        let server = try await WebServer(to: service.port, buffers: false, maximumBodySize: "8k")
        let upload = try upload(to: server, bytes(20_000), version)
        // It never ends, and is answered all the same.
        #expect(try await !upload.expectAnswer(413).isBodyComplete)
    }

    @Test func whatWasMeasuredIsThere() async throws {
        let service = try RecordingServer(otherwise: .answer(text: "heard"))
        let server = try await WebServer(to: service.port, buffers: false)
        let upload = try upload(to: server, bytes(6_400), isSealed: true, .two)
        let result = try #require(await upload.result())
        let route = result.route
        #expect(route.remote == "127.0.0.1:\(server.port)")
        #expect(route.local?.hasPrefix("127.0.0.1:") == true)
        #expect(!route.isByProxy)
        #expect(route.tls?.hasPrefix("TLSv1.") == true)
        #expect(route.cipher?.isEmpty == false)
        let timings = result.timings
        let order = [
            timings.connected, timings.secured, timings.headOut, timings.lastByteOut,
            timings.firstByteIn, timings.firstBodyByteIn, timings.lastByteIn, timings.end,
        ].compactMap(\.self)
        #expect(order.count == 8)
        #expect(order == order.sorted())
        #expect(result.wireByteCount == 6_400)
        #expect(result.receivedByteCount == 5)
    }
}
