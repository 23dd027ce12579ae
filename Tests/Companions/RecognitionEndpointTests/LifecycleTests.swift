// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import RecognitionEndpoint

@Suite struct LifecycleTests {
    // MARK: - Starting

    @Test func whereItCannotListenIsSaid() async throws {
        func refusal(_ host: String, _ port: Int) async throws -> RecognitionEndpointError? {
            var configuration = RecognitionEndpointConfiguration(recogniser: TestEndpoint.soundless)
            (configuration.host, configuration.port) = (host, port)
            let endpoint = try RecognitionEndpoint(configuration)
            return await #expect(throws: RecognitionEndpointError.self) {
                try await endpoint.run { _ in endpoint.shutdown() }
            }
        }
        #expect(
            try await refusal("no such host", 0)?.description
                .hasPrefix("cannot listen on no such host:") == true)
        try await TestEndpoint.run(TestEndpoint.withoutSound) { port, _ in
            let taken = try await refusal("127.0.0.1", port)
            #expect(
                taken
                    == .cannotListen(
                        host: "127.0.0.1", port: port, reason: "Address already in use"))
        }
    }

    // MARK: - Stopping

    @Test func shutdownLetsARunningRecognitionFinishAndNobodyNewIn() async throws {
        let audio = try Samples.pcm("go-forward")
        let answer = try await TestEndpoint.run { port, endpoint in
            try await onThread {
                let client = try RawClient(port: port)
                try client.sendHead("/recognize", ["Content-Type: audio/pcm"])
                try client.sendChunk(audio.prefix(64_000))
                let head = try client.readHead()
                endpoint.shutdown()
                // Refused once the port is closed; clients that were let in before are sent away.
                while let other = try? RawClient(port: port) {
                    // A reset is as good an end as any.
                    do { _ = try other.readToEnd() } catch RawClient.Failure.reset {}
                }
                try client.sendEnd(audio.dropFirst(64_000))
                return try client.readBody(head)
            }
        }
        #expect(answer.contains(#""text":"go forward ten meters","type":"final""#))
    }

    @Test func aRecognitionThatOutlastsTheGracePeriodIsGivenUp() async throws {
        let audio = try Samples.pcm("go-forward")
        try await TestEndpoint.run {
            $0.shutdownGracePeriod = .milliseconds(200)
        } _: { port, endpoint in
            try await onThread {
                let client = try RawClient(port: port)
                try client.sendHead("/recognize", ["Content-Type: audio/pcm"])
                try client.sendChunk(audio)
                _ = try client.readHead()
                endpoint.shutdown()
                // A reset is as good an end as any.
                #expect(!((try? client.readTextToEnd()) ?? "").contains("final"))
            }
        }
    }

    @Test func cancellingTheTaskIsAShutdown() async throws {
        let endpoint = try RecognitionEndpoint(
            RecognitionEndpointConfiguration(recogniser: TestEndpoint.soundless))
        let (ports, ready) = AsyncStream.makeStream(of: Int.self)
        let server = Task { try await endpoint.run { ready.yield($0) } }
        _ = await ports.first { _ in true }
        server.cancel()
        try await server.value
        await #expect(throws: RecognitionEndpointError.alreadyUsed) {
            try await endpoint.run { _ in }
        }
    }
}

@Suite struct ServedRequestTests {
    @Test func whatIsServedIsTold() async throws {
        let audio = try Samples.wav("go-forward")
        let (requests, served) = AsyncStream.makeStream(of: ServedRequest.self)
        try await TestEndpoint.run {
            $0.onRequest = { served.yield($0) }
        } _: { port, _ in
            // A recognition is told without its query, and with its audio.
            try await onThread {
                _ = try RawClient(port: port).post(
                    audio, ["Content-Type: audio/wav"], to: "/recognize?key=sesame")
            }
            let record = try #require(await requests.first { _ in true })
            #expect(record.peer.hasPrefix("127.0.0.1:"))
            #expect(record.method == "POST")
            #expect(record.path == "/recognize")
            #expect(record.mediaType == "audio/wav")
            #expect(record.byteCount == audio.count)
            #expect(record.audioDuration.map { (2.78...2.8).contains($0) } == true)
            #expect(record.status == 200)
            #expect(record.isAnswered)
            #expect(record.duration > .zero)
            #expect(!"\(record)".contains("sesame"))
            // So are a refusal and what is not HTTP.
            let answer = try await TestEndpoint.post([1, 2], type: "text/html", to: port)
            #expect(answer.head.status == 415)
            try await onThread {
                let client = try RawClient(port: port)
                let requests = "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\nSPEAK now\r\n\r\n"
                try client.send(Array(requests.utf8))
                // Bytes behind a good request do not spoil its answer.
                #expect(try client.readAnswer().head.status == 200)
                let second = try client.readAnswer()
                #expect(second.head.status == 400)
                #expect(second.body.contains("invalid HTTP method"))
            }
            var records: [ServedRequest] = []
            for await record in requests.prefix(3) { records.append(record) }
            #expect(records.map(\.status) == [415, 200, 400])
            #expect(records.map(\.method) == ["POST", "GET", ""])
            #expect(records.map(\.path) == ["/recognize", "/healthz", ""])
            #expect(records.allSatisfy { $0.audioDuration == nil })
            // And a body that is cut.
            try await onThread {
                let client = try RawClient(port: port)
                try client.sendHead("/recognize", ["Content-Type: audio/pcm"])
                try client.sendChunk([0, 0, 0, 0])
            }
            let last = await requests.first { _ in true }
            #expect(last?.byteCount == 4)
            #expect(last?.audioDuration == nil)
        }
    }
}
