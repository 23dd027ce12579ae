// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

@Suite struct ProxyTests {
    private func upload(
        to url: String, by proxy: String, login: String? = nil, _ certificate: String? = nil
    ) throws -> Upload {
        var settings = ConnectionSettings()
        settings.proxy = try Proxy(proxy)
        settings.proxyLogin = try login.map { try Credential(place: .proxy, secret: $0) }
        settings.certificateFile = certificate
        return try Upload(to: url, bytes(6_400), isSealed: true) {
            $0.connection = settings
        }
    }

    @Test func httpIsForwardedAndHTTPSTunnelledAndAServiceThatIsDownCanBeTriedAgain() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let front = try await TLSFront(to: server.port)
        let proxy = try await ProxyServer()
        let forwarded = try upload(to: server.url("/asr"), by: proxy.url)
        let plain = try await forwarded.expectAnswer(200, "heard")
        #expect(server.requests.first?.body == bytes(6_400))
        #expect(plain.route.isByProxy)
        #expect(plain.route.remote == "127.0.0.1:\(proxy.port)")
        #expect(proxy.log.contains("POST http://127.0.0.1:\(server.port)/asr"))

        // While the body grows.
        let tunnelled = try Upload(to: front.url()) {
            // A test that has none fails below.
            $0.connection.proxy = try? Proxy(proxy.url)
            $0.connection.certificateFile = front.certificateFile
        }
        for length in [6, 12] {
            try tunnelled.append(bytes(6))
            #expect(await server.wait(untilBytes: length, ofRequest: 1) != nil)
        }
        tunnelled.seal()
        let secure = try await tunnelled.expectAnswer(200, "heard")
        #expect(secure.route.isByProxy)
        #expect(secure.route.tls?.hasPrefix("TLSv1.") == true)
        #expect(proxy.log.contains("CONNECT 127.0.0.1:"))
        // The service is not told of the proxy.
        #expect(server.requests[1].headers.allSatisfy { !$0.name.hasPrefix("Proxy-") })

        let reserved = try ReservedPort()
        let down = try upload(to: "https://127.0.0.1:\(reserved.port)/", by: proxy.url)
        let reason = try #require(await down.result()).reason { .cannotConnect($0) }
        #expect(reason.contains("the proxy answers 5"), "\(reason)")
    }

    @Test func aProxyThatWantsALoginGetsTheRightOneAndTheServiceDoesNot() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let front = try await TLSFront(to: server.port)
        let proxy = try await ProxyServer(login: "name s3cret")
        for (url, certificate) in [(server.url(), nil), (front.url(), front.certificateFile)] {
            let upload = try upload(
                to: url, by: proxy.url, login: "name:s3cret", certificate)
            try await upload.expectAnswer()
        }
        #expect(server.requests.map { $0["Proxy-Authorization"] } == [nil, nil])
        for login in [nil, "name:wrong"] {
            let refused = try upload(
                to: front.url(), by: proxy.url, login: login, front.certificateFile)
            let result = try #require(await refused.result())
            // Some proxies call a wrong login 401.
            let statuses = login == nil ? [407] : [401, 407]
            #expect(statuses.contains { result.ending == .proxyRefused(status: $0) })
            #expect(result.sentByteCount == 0)
        }
        #expect(server.requests.count == 2)
    }

    @Test func aPortThatTheProxyForbidsIsSaid() async throws {
        let server = try RecordingServer()
        let proxy = try await ProxyServer(connectPort: 9)
        let upload = try upload(to: "https://127.0.0.1:\(server.port)/", by: proxy.url)
        #expect(try #require(await upload.result()).ending == .proxyRefused(status: 403))
        #expect(server.connectionCount == 0)
    }

    @Test func aProxyThatIsNotThereIsNamed() async throws {
        let server = try RecordingServer()
        let reserved = try ReservedPort()
        let upload = try upload(to: server.url(), by: "http://127.0.0.1:\(reserved.port)")
        let reason = try #require(await upload.result()).reason { .cannotConnect($0) }
        #expect(reason.contains("127.0.0.1 port \(reserved.port)"), "\(reason)")
        #expect(server.connectionCount == 0)
    }

    @Test func exceptionsAndNoneGoAroundIt() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let reserved = try ReservedPort()
        let exceptions = try Upload(to: server.url(), bytes(640), isSealed: true) {
            // A test that has none fails below.
            $0.connection.proxy = try? Proxy("http://127.0.0.1:\(reserved.port)")
            $0.connection.proxyExceptions = ["other.example", "127.0.0.1"]
        }
        #expect(try await !exceptions.expectAnswer().route.isByProxy)
        try await upload(to: server.url(), by: "none").expectAnswer()
    }
}

@Suite struct AddressTests {
    @Test func aNameGetsTheAddressThatIsGivenToThisTakeAlone() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        let url = "http://speech.invalid:\(server.port)/asr"
        let resolution = try HostResolution("speech.invalid:\(server.port):127.0.0.1")
        let first = try Upload(to: url, bytes(640), isSealed: true, on: loop) {
            $0.session = TransferSession()
            $0.connection.resolutions = [resolution]
        }
        let result = try await first.expectAnswer()
        #expect(result.route.remote == "127.0.0.1:\(server.port)")
        #expect(result.route.local?.hasPrefix("127.0.0.1:") == true)
        #expect(server.requests.first?["Host"] == "speech.invalid:\(server.port)")
        let second = try Upload(to: url, bytes(640), isSealed: true, on: loop) {
            $0.session = TransferSession()
        }
        let reason = try #require(await second.result()).reason { .cannotResolve($0) }
        #expect(reason.contains("speech.invalid"))
        #expect(server.connectionCount == 1)
    }

    @Test func anIPv6AddressIsReached() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let front = try await TLSFront(to: server.port, for: "IP:::1", hasIPv6: true)
        for (kind, isReached) in [(nil, true), (AddressKind.six, true), (.four, false)] {
            let upload = try Upload(to: "https://[::1]:\(front.port)/", bytes(640), isSealed: true)
            {
                $0.connection.certificateFile = front.certificateFile
                $0.connection.addresses = kind
            }
            let result = try #require(await upload.result())
            #expect((result.ending == .answered) == isReached, "\(result.ending)")
            if isReached { #expect(result.route.remote == "[::1]:\(front.port)") }
        }
    }
}
