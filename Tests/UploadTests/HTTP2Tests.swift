// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

/// HTTP/2 and HTTP/1.1 over TLS, with a service that is told by which connection and in which version
/// a request came.
@Suite struct HTTP2Tests {
    private let service: RecordingServer

    init() throws {
        service = try RecordingServer(otherwise: .answer(text: "heard"))
    }

    private func upload(
        to front: TLSFront, _ bytes: [UInt8], path: String = "/", isSealed: Bool = false,
        version: HTTPVersion = .two, on loop: TransferLoop? = nil
    ) throws -> Upload {
        try Upload(to: front.url(path), bytes, isSealed: isSealed, on: loop) {
            $0.connection.certificateFile = front.certificateFile
            $0.connection.http = version
            $0.longestIdleTime = loop == nil ? nil : .seconds(600)
            $0.leavesConnection = loop != nil
        }
    }

    @Test func whereItAloneIsSpokenItMustBeWishedAndOneConnectionCarriesMany() async throws {
        let front = try await TLSFront(to: service.port, TLSFront.http2Alone)
        let unwished = try upload(to: front, bytes(640), isSealed: true, version: .one)
        let result = try #require(await unwished.result())
        #expect(result.ending != .answered)
        #expect(result.timings.httpVersion == nil)
        #expect(service.requests.isEmpty)

        let loop = try TransferLoop()
        defer { loop.shutDown() }
        for number in 0..<5 {
            let upload = try upload(to: front, bytes(100_000), isSealed: true, on: loop)
            #expect(try await upload.expectAnswer().hasReusedConnection == (number > 0))
        }
        #expect(service.frontConnectionCount == 1)
    }

    /// TLS has records of its own on a connection that is idle: they are no reason against it.
    @Test func aServiceWithoutItIsSpokenToInHTTP1OverOneConnection() async throws {
        let front = try await TLSFront(to: service.port, offersHTTP2: false)
        let upload = try upload(to: front, bytes(640), isSealed: true)
        #expect(try await upload.expectAnswer(200, "heard").timings.httpVersion == "1.1")
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        for number in 1...5 {
            let upload = try self.upload(
                to: front, bytes(100_000), isSealed: true, version: .one, on: loop)
            try await upload.expectAnswer()
            #expect(try #require(await service.finishedRequest(number)).body.count == 100_000)
        }
        #expect(service.frontConnectionCount == 2)
    }

    @Test func eachTransferUnderWayHasAConnectionWhichEndsWithIt() async throws {
        let front = try await TLSFront(to: service.port)
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        // A cancelled request ends its stream and its connection.
        let cancelled = try upload(to: front, bytes(640), on: loop)
        #expect(await service.wait(untilBytes: 640) != nil)
        cancelled.cancel()
        #expect(try #require(await cancelled.result()).ending == .cancelled)
        #expect(try #require(await service.finishedRequest()).isComplete == false)
        #expect(await front.logs("closed connection while processing HTTP/2 connection"))

        // Two at once do not share one.
        let uploads = try (0..<2).map { _ in try upload(to: front, bytes(640), on: loop) }
        for upload in uploads { #expect(await upload.hasSent(640)) }
        for upload in uploads { upload.seal() }
        for upload in uploads { try await upload.expectAnswer() }
        #expect(service.frontConnectionCount == 3)

        // A stream that is cut is no answer.
        let lost = try upload(to: front, bytes(640))
        #expect(await service.wait(untilBytes: 640, ofRequest: 3) != nil)
        front.stop()
        _ = try #require(await lost.result()).reason { .connectionLost($0) }
    }

    @Test func bothVersionsCarryABodyAsTheFrontTakesIt() async throws {
        let pass = "proxy_pass http://127.0.0.1:\(service.port);"
        let front = try await TLSFront(
            to: service.port,
            """
            location /whole { proxy_request_buffering on; proxy_buffering on; \(pass) }
            location /short { client_max_body_size 8k; \(pass) }
            """)
        for version in HTTPVersion.allCases { try await expectGrowth(to: front, version) }
        // With buffering it arrives whole.
        for version in HTTPVersion.allCases {
            let upload = try upload(
                to: front, bytes(100_000), path: "/whole", isSealed: true, version: version)
            try await upload.expectAnswer()
            #expect(service.requests.last?.body == bytes(100_000))
            #expect(service.requests.last?["Content-Length"] == "100000")
        }
        // A body that is too long is refused in its middle: it never ends, and is answered.
        for version in HTTPVersion.allCases {
            let upload = try upload(to: front, bytes(20_000), path: "/short", version: version)
            #expect(try await !upload.expectAnswer(413).isBodyComplete)
        }
    }

    /// Without buffering the body arrives while it grows, and all that happens is measured.
    private func expectGrowth(to front: TLSFront, _ version: HTTPVersion) async throws {
        let number = service.requests.count
        let upload = try upload(to: front, [], version: version)
        var sent = 0
        for length in [701, 809] {
            try upload.append(bytes(length))
            sent += length
            #expect(await service.wait(untilBytes: sent, ofRequest: number) != nil)
        }
        upload.seal()
        let result = try await upload.expectAnswer(200, "heard")
        #expect(result.timings.httpVersion == version.rawValue)
        #expect(result.isBodyComplete)
        #expect((result.wireByteCount, result.receivedByteCount) == (1_510, 5))
        #expect(service.requests.last?.isComplete == true)
        let spoken = version == .two ? "HTTP/2.0" : "HTTP/1.1"
        #expect(service.requests.last?["X-Protocol"] == spoken)

        let route = result.route
        #expect(route.remote == "127.0.0.1:\(front.port)")
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
    }
}
