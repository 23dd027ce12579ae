// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload
@testable import Utter

/// WebSockets over the connections that there are: with TLS, through a proxy, and broken at any byte.
@Suite(.timeLimit(.minutes(5))) struct SocketLinkTests {
    private static let words = [3, 5, 7, 9]
    private let bench: Bench

    init() throws { bench = try Bench() }

    private func send(_ words: [Int] = words, by plan: DeliveryPlan) async throws -> TakeOutcome {
        try await bench.replay(SocketService.samples(words), by: plan).end()
    }

    /// Another thread reads an answer that is longer than 64 KiB, and the service closes at once.
    @Test func manyMessagesAreReadToTheirEnd() async throws {
        let service = try await SocketService.running.value
        let words = (0..<40).map { $0 % 11 + 1 }
        for _ in 0..<3 {
            let outcome = try await send(words, by: service.plan("deepgram", "padding=30000"))
            #expect(outcome.text == SocketService.text(words))
            #expect(outcome.attempts.map(\.result.ending) == [.answered])
        }
    }

    @Test func overTLSAndThroughAProxyItIsTheSame() async throws {
        let certificate = try await TestCertificate(in: bench.folder)
        let service = try await SocketService(certificate)
        let proxy = try await ProxyServer()
        let ways = ["deepgram", "openai"].flatMap { [($0, false), ($0, true)] }
        for (dialect, hasProxy) in ways {
            var plan = try service.plan(dialect, over: "connection.ca-file = '\(certificate.path)'")
            plan.service.connection.proxy = hasProxy ? try Proxy(proxy.url) : nil
            let outcome = try await send(by: plan)
            #expect(outcome.text == SocketService.text(Self.words), "\(dialect), \(hasProxy)")
            let result = try #require(outcome.attempts.first?.result)
            #expect(result.route.tls?.hasPrefix("TLSv1.") == true)
            #expect(result.route.isByProxy == hasProxy)
        }
        #expect(proxy.log.ranges(of: "CONNECT 127.0.0.1:").count >= 2)
    }

    /// Without TLS, too, a proxy is asked for a tunnel: what follows the handshake is not HTTP.
    @Test func aWebSocketInClearIsTunnelled() async throws {
        let service = try await SocketService.running.value
        let proxy = try await ProxyServer()
        var plan = try service.plan("deepgram")
        plan.service.connection.proxy = try Proxy(proxy.url)
        #expect(try await send(by: plan).text == SocketService.text(Self.words))
        #expect(proxy.log.contains("CONNECT 127.0.0.1:"))
    }

    @Test func aRedirectMayBeRelative() async throws {
        let service = try await SocketService.running.value
        let outcome = try await send(by: service.plan("deepgram", "redirect=/deepgram?moved"))
        #expect(outcome.text == SocketService.text(Self.words))
        let sessions = try await service.sessions(1, of: "moved")
        #expect(sessions.map(\.path) == ["/deepgram?moved"])
    }

    /// The text is whole and has no word twice, wherever the connection breaks: in the handshake, behind
    /// it, in the heads, masks and payloads of frames, within words.
    @Test(arguments: LinkFault.Direction.allCases, ["deepgram", "soniox"])
    func aLinkThatBreaksLosesNoWord(
        _ direction: LinkFault.Direction, _ dialect: String
    ) async throws {
        var random = SeededRandom()
        let byteCount = direction == .toService ? 40_000 : 2_500
        let offsets =
            [0, 1, 40, 200, 330, 400]
            + (0..<20).map { _ in Int.random(in: 0..<byteCount, using: &random) }
        let service = try await SocketService.running.value
        for (number, offset) in offsets.enumerated() {
            let fault = LinkFault(
                number.isMultiple(of: 2) ? .reset : .finish, direction, at: offset)
            let proxy = try FaultProxy(to: UInt16(service.port), plans: [LinkPlan(fault)])
            let outcome = try await send(
                by: service.plan(
                    dialect, over: "transfer.catch-up = '100x'", through: proxy.port,
                    retry: SocketTakeTests.patient))
            let said: Comment = "\(fault), seed \(random.seed)"
            #expect(outcome.text == SocketService.text(Self.words), said)
            #expect(proxy.connectionCount <= 2, said)
        }
    }

    /// A link that falls silent is noticed, and the rest goes over another one.
    @Test(arguments: LinkFault.Direction.allCases, [100, 1_200])
    func aLinkThatFallsSilentLosesNoWord(
        _ direction: LinkFault.Direction, _ offset: Int
    ) async throws {
        let service = try await SocketService.running.value
        let fault = LinkFault(.blackHole, direction, at: offset)
        let proxy = try FaultProxy(to: UInt16(service.port), plans: [LinkPlan(fault)])
        let outcome = try await send(
            by: service.plan(
                "deepgram",
                over: ["connect", "stall", "answer"].map { "transfer.\($0)-seconds = 3" }
                    .joined(separator: "\n"),
                through: proxy.port, retry: SocketTakeTests.patient))
        #expect(outcome.text == SocketService.text(Self.words), "\(fault)")
    }

    @Test func aProfileAndItsAddressBelongTogether() throws {
        let finish = "socket.finish = 'end'"
        let job = "exchange = { kind = 'job', steps = [{ name = 'a', body = 'recording' }] }"
        for (line, words) in [
            ("url = 'http://127.0.0.1:9/'\n\(finish)", ""), ("url = 'ws://127.0.0.1:9/'", ""),
            // Messages hold the audio alone.
            ("url = 'ws://127.0.0.1:9/'\n\(finish)\nbody.kind = 'form'", "a WebSocket"),
            ("url = 'ws://127.0.0.1:9/'\n\(finish)\n\(job)", "a WebSocket"),
        ] {
            let error = #expect(throws: (any Error).self, "\(line)") {
                try Bench.plan(by: line, format: .pcm)
            }
            let said = error.map { "\($0)" } ?? ""
            #expect(words.isEmpty || said.contains(words), "\(said)")
        }
    }
}
