// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

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
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.timings.httpVersion == version.rawValue)
        #expect(upload.recorder.text == "heard")
        #expect(service.requests.first?.isComplete == true)
    }

    @Test(arguments: HTTPVersion.allCases)
    func withBufferingTheBodyArrivesWhole(_ version: HTTPVersion) async throws {
        let service = try RecordingServer(otherwise: .answer(text: "heard"))
        let server = try await WebServer(to: service.port, buffers: true)
        let upload = try upload(to: server, bytes(100_000), isSealed: true, version)
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(service.requests.first?.body == bytes(100_000))
        #expect(service.requests.first?["Content-Length"] == "100000")
    }

    @Test(arguments: HTTPVersion.allCases)
    func aBodyThatIsTooLongIsRefusedInItsMiddle(_ version: HTTPVersion) async throws {
        let service = try RecordingServer(otherwise: .answer(text: "heard"))
        let server = try await WebServer(to: service.port, buffers: false, maximumBodySize: "8k")
        let upload = try upload(to: server, bytes(20_000), version)
        // It never ends, and is answered all the same.
        let result = try #require(await upload.result())
        #expect(result.status == 413)
        #expect(result.ending == .answered)
        #expect(!result.isBodyComplete)
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
