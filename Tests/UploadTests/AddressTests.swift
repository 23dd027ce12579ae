// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

@Suite struct AddressTests {
    @Test func aNameGetsTheAddressThatIsGiven() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let url = "http://speech.invalid:\(server.port)/asr"
        let resolution = try HostResolution("speech.invalid:\(server.port):127.0.0.1")
        let upload = try Upload(to: url, bytes(640), isSealed: true) {
            $0.session = TransferSession()
            $0.connection.resolutions = [resolution]
        }
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.route.remote == "127.0.0.1:\(server.port)")
        #expect(result.route.local?.hasPrefix("127.0.0.1:") == true)
        #expect(server.requests.first?["Host"] == "speech.invalid:\(server.port)")
    }

    @Test func anAddressIsGivenToOneTakeAlone() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        let url = "http://speech.invalid:\(server.port)/asr"
        let resolution = try HostResolution("speech.invalid:\(server.port):127.0.0.1")
        let first = try Upload(to: url, bytes(640), isSealed: true, on: loop) {
            $0.session = TransferSession()
            $0.connection.resolutions = [resolution]
        }
        #expect(try #require(await first.result()).ending == .answered)
        let second = try Upload(to: url, bytes(640), isSealed: true, on: loop) {
            $0.session = TransferSession()
        }
        _ = try #require(await second.result()).reason { .cannotResolve($0) }
        #expect(server.connectionCount == 1)
    }

    @Test func anIPv6AddressIsReached() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let front = try await IPv6Front(to: server)
        for (kind, isReached) in [(nil, true), (AddressKind.six, true), (.four, false)] {
            let upload = try Upload(to: front.url(), bytes(640), isSealed: true) {
                $0.connection.addresses = kind
            }
            let result = try #require(await upload.result())
            #expect((result.ending == .answered) == isReached, "\(result.ending)")
            if isReached { #expect(result.route.remote == "[::1]:\(front.port)") }
        }
    }
}
