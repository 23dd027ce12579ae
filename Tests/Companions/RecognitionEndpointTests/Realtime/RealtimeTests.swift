// SPDX-License-Identifier: Apache-2.0

import Cryptography
import TestSupport
import Testing

@testable import RecognitionEndpoint

/// Sessions of OpenAI's realtime transcription, with a client of another hand.
@Suite(.timeLimit(.minutes(5))) struct RealtimeTests {
    private static let recording = Samples.folder + "/go-forward.wav"
    private static let text = "go forward ten meters"

    @Test func whatIsCommittedComesBackAsText() async throws {
        let served = Observed<[ServedRequest]>([])
        try await TestEndpoint.run {
            $0.onRequest = { request in served.update { $0.append(request) } }
        } _: { port, _ in
            let client = try SocketClient.updated(port: port)
            try client.order(["base64": Self.recording])
            try client.commit()
            let messages = try await client.messages(until: "completed")
            #expect(
                messages.map(\.kind) == ["created", "updated", "committed", "delta", "completed"])
            #expect(messages[0].session?.type == "transcription")
            #expect(messages[0].session?.audio.input.format.rate == 24_000)
            #expect(messages[1].session?.audio.input.format.rate == 16_000)
            let last = try #require(messages.last)
            #expect(last.transcript == Self.text)
            #expect(last.item_id == messages[2].item_id)
            #expect(last.words?.map(\.word) == ["go", "forward", "ten", "meters"])
            #expect(messages.compactMap(\.delta).joined() == Self.text)
            client.close()
            #expect(try await client.end().closed == 1000)
        }
        let session = try #require(served.look { $0 }.first)
        #expect(session.status == 101)
        #expect(session.path == "/v1/realtime")
        #expect(session.byteCount == (try Samples.pcm("go-forward").count))
        #expect(session.audioDuration == 2.78625)
    }

    /// The second one is committed before the first one is known.
    @Test func aSessionHasSeveralUtterances() async throws {
        try await TestEndpoint.run { port, endpoint in
            let client = try SocketClient.updated(port: port)
            for _ in 0..<2 {
                try client.order(["audio": Self.recording], piece: 1_001)
                try client.commit()
            }
            let messages = try await client.messages(until: "completed", 2)
            let committed = messages.filter { $0.kind == "committed" }
            #expect(committed[1].previous_item_id == committed[0].item_id)
            let texts = messages.filter { $0.kind == "completed" }
            #expect(texts.map(\.transcript) == [Self.text, Self.text])
            #expect(Set(texts.map(\.item_id)) == Set(committed.map(\.item_id)))

            // A client who goes in an utterance leaves nothing behind.
            do {
                let client = try SocketClient.updated(port: port)
                try client.begin()
                #expect(await comesTrue { endpoint.load.running == 1 })
                withExtendedLifetime(client) {}
            }
            #expect(await comesTrue { endpoint.load.running == 0 })
        }
    }

    @Test(.spec("RFC 6455 §5.4")) func whatIsClearedHasNoTextAlsoByAMessageInFrames() async throws {
        try await TestEndpoint.run { port, _ in
            let client = try SocketClient.updated(port: port)
            try client.begin()
            try client.send(#"{"type":"input_audio_buffer.clear"}"#)
            try client.begin()
            client.order(line: #"{"fragments":["{\"type\":\"input_audio","_buffer.clear\"}"]}"#)
            _ = try await client.messages(until: "cleared", 2)
            try client.commit()
            let refusal = try await client.messages(until: "error").last?.error
            #expect(refusal?.code == "input_audio_buffer_commit_empty")
            try client.say()
            let messages = try await client.messages(until: "completed")
            #expect(messages.count { $0.kind == "completed" } == 1)
            #expect(!messages.contains { $0.kind == "failed" })
        }
    }

    private static func update(_ input: String) -> String {
        #"{"type":"session.update","session":{"audio":{"input":\#(input)}}}"#
    }

    @Test func anUpdateChangesNothingElse() async throws {
        try await TestEndpoint.run {
            TestEndpoint.withoutSound(&$0)
        } _: { port, _ in
            let client = try SocketClient(port: port)
            try client.send(Self.update(#"{"transcription":{"language":"de"}}"#))
            try client.send(Self.update(#"{"format":{"type":"audio/pcm","rate":16000}}"#))
            let input = try await client.messages(until: "updated", 2).last?.session?.audio.input
            #expect(input?.format.rate == 16_000 && input?.transcription.language == "de")
        }
    }

    private static let mistakes: [(message: String, code: String, parameter: String?)] = [
        ("hello", "invalid_json", nil), ("[1]", "invalid_json", nil),
        (#"{"type":"response.create"}"#, "unknown_parameter", "type"),
        (
            #"{"type":"input_audio_buffer.append","audio":"%%%"}"#, "invalid_parameter", "audio"
        ),
        (
            update(#"{"format":{"rate":1}}"#), "invalid_parameter",
            "session.audio.input.format.rate"
        ),
        (
            update(#"{"format":{"type":"audio/pcmu"}}"#), "invalid_parameter",
            "session.audio.input.format.type"
        ),
        (
            update(#"{"turn_detection":{"type":"server_vad"}}"#), "invalid_parameter",
            "session.audio.input.turn_detection"
        ),
    ]

    @Test func aMistakeIsSaidAndTheSessionGoesOn() async throws {
        try await TestEndpoint.run { port, _ in
            let client = try SocketClient.updated(port: port)
            for (number, mistake) in Self.mistakes.enumerated() {
                try client.send(mistake.message)
                let messages = try await client.messages(until: "error", number + 1)
                let refusal = try #require(messages.last { $0.kind == "error" }?.error)
                #expect(refusal.code == mistake.code, "\(mistake.message)")
                #expect(refusal.param == mistake.parameter, "\(mistake.message)")
                try client.say()
                let last = try await client.messages(until: "completed", number + 1).last
                #expect(last?.transcript == Self.text, "\(mistake.message)")
            }
        }
    }

    // MARK: - Who gets in

    @Test func aStrangerHasNoSession() async throws {
        try await TestEndpoint.run {
            TestEndpoint.withoutSound(&$0)
            $0.bearerToken = BearerToken("right")
        } _: { port, _ in
            for (field, path, status) in [
                // A web page, and a page of this machine.
                ("Origin: http://evil.example", "/v1/realtime", 403),
                ("Origin: null", "/v1/realtime", 403),
                // No token, and another one.
                ("X-Nothing: 1", "/v1/realtime", 401),
                ("Authorization: Bearer other", "/v1/realtime", 401),
                // Another path, and a path of uploads.
                ("Authorization: Bearer right", "/", 404),
                ("Authorization: Bearer right", "/recognize", 405),
            ] {
                let client = try SocketClient("ws://127.0.0.1:\(port)\(path)", field)
                #expect(try await client.end().refused == status, "\(field) \(path)")
            }
            let other = try SocketClient(
                "ws://127.0.0.1:\(port)/v1/realtime", "Authorization: Bearer right")
            _ = try await other.messages(until: "created")
        }
    }

    @Test func anEndpointOfEncryptedBodiesHasNoSessions() async throws {
        let key = try EncryptionKey(
            secret: Array(("utter-key-" + String(repeating: "0123456789abcdef", count: 4)).utf8))
        try await TestEndpoint.run {
            TestEndpoint.withoutSound(&$0)
            $0.bodyKey = key
        } _: { port, _ in
            let end = try await SocketClient(port: port).end()
            #expect(end.refused == 415)
        }
    }

    @Test func sessionsBeyondTheLimitAreToldToComeBack() async throws {
        try await TestEndpoint.run {
            TestEndpoint.withoutSound(&$0)
            $0.maximumRealtimeSessions = 1
        } _: { port, _ in
            let first = try SocketClient(port: port)
            _ = try await first.messages(until: "created")
            let end = try await SocketClient(port: port).end()
            #expect(end.refused == 503)
            first.close()
            _ = try await first.end()
            _ = try await SocketClient(port: port).messages(until: "created")
        }
    }

    /// Without `Connection: Upgrade`, or with a body, it is a request like any other, also where another one
    /// comes in the same packet.
    @Test(.spec("RFC 6455 §4.2.1"))
    func whatIsNoHandshakeIsAnsweredByHTTP() async throws {
        let get = "GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\n"
        let rest =
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        let another = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        try await TestEndpoint.run(TestEndpoint.withoutSound) { port, _ in
            try await onThread {
                let plain = try RawClient(port: port)
                try plain.send(Array("\(get)\r\n".utf8))
                let answer = try plain.readAnswer()
                #expect(answer.head.status == 426)
                #expect(answer.body.contains("RFC 6455"))
                let half = try RawClient(port: port)
                try half.send(Array("\(get)Upgrade: websocket\r\n\(rest)\(another)".utf8))
                #expect(try half.readAnswer().head.status == 426)
                #expect(try half.readHead().status == 200)
                let withBody = try RawClient(port: port)
                let fields = "Connection: Upgrade\r\nContent-Length: 0\r\n"
                try withBody.send(Array("\(get)Upgrade: websocket\r\n\(fields)\(rest)".utf8))
                #expect(try withBody.readAnswer().head.status == 426)
            }
            // It serves others as before.
            _ = try await SocketClient(port: port).messages(until: "created")
        }
    }

    /// A handshake whose body never comes holds nothing up.
    @Test func aHandshakeWithABodyThatDoesNotComeEndsWithTheEndpoint() async throws {
        let handshake = """
            GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\
            Connection: Upgrade\r\nContent-Length: 5\r\n\
            Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n
            """
        // The endpoint's end is awaited, with the client still there.
        let client = Observed<RawClient?>(nil)
        try await TestEndpoint.run(TestEndpoint.withoutSound) { port, _ in
            let status = try await onThread {
                let raw = try RawClient(port: port)
                client.update { $0 = raw }
                try raw.send(Array(handshake.utf8))
                return try raw.readHead().status
            }
            #expect(status == 426)
        }
        client.update { $0 = nil }
    }

    // MARK: - Limits

    @Test func anUtteranceThatIsTooLongFailsAlone() async throws {
        try await TestEndpoint.run {
            $0.maximumBodyByteCount = 100_000
        } _: { port, _ in
            let client = try SocketClient.updated(port: port)
            try client.begin("jfk")
            let failure = try await client.messages(until: "failed").last?.error
            #expect(failure?.message == "the body is longer than 100000 bytes")
            try client.commit()
            try client.say()
            #expect(try await client.messages(until: "completed").last?.transcript == Self.text)
        }
    }

    @Test func anUtteranceThatStallsIsGivenUp() async throws {
        try await TestEndpoint.run {
            $0.idleTimeout = .milliseconds(300)
        } _: { port, _ in
            let client = try SocketClient.updated(port: port)
            try client.begin()
            let failure = try await client.messages(until: "failed").last?.error
            #expect(failure?.message.hasPrefix("nothing of the body has come for") == true)
        }
    }

    @Test func whereNoRecogniserIsFreeTheSessionEndsOnceItHasToldWhatIsCommitted() async throws {
        try await TestEndpoint.run {
            ($0.maximumConcurrentRecognitions, $0.maximumWaitingRecognitions) = (1, 0)
        } _: { port, endpoint in
            let first = try SocketClient.updated(port: port)
            try first.begin()
            #expect(await comesTrue { endpoint.load.running == 1 })
            let second = try SocketClient.updated(port: port)
            try second.begin()
            let end = try await second.end()
            #expect(end.closed == 1013)
            #expect(end.reason == "as many recordings wait as this endpoint is allowed")
            try first.commit()
            #expect(try await first.messages(until: "completed").last?.transcript == Self.text)

            let client = try SocketClient.updated(port: port)
            try client.say("jfk")
            // The recogniser is at the first one for a second and more.
            try client.begin()
            let messages = try await client.messages(until: "end")
            #expect(messages.contains { $0.kind == "completed" })
            #expect(messages.last?.closed == 1013)
        }
    }

    // MARK: - Frames

    @Test(.spec("RFC 6455 §5, §7.4")) func aBreachEndsTheSession() async throws {
        try await TestEndpoint.run(TestEndpoint.withoutSound) { port, _ in
            for (breach, frame, code) in [
                ("without a mask", "810568656c6c6f", 1002),
                ("reserved bits", "c1850000000068656c6c6f", 1002),
                ("no UTF-8", "818200000000c328", 1007),
                ("too long", "82ff0000000100000000", 1009),
                ("an unknown kind", "838000000000", 1002),
                ("a divided ping", "098000000000", 1002),
                ("a continuation of nothing", "808000000000", 1002),
            ] {
                // The endpoint serves others as before.
                let client = try SocketClient(port: port)
                _ = try await client.messages(until: "created")
                // In hexadecimal.
                try client.order(["raw": frame])
                #expect(try await client.end().closed == code, "\(breach)")
            }
            _ = try await SocketClient(port: port).messages(until: "created")
        }
    }

    // MARK: - The end

    @Test func aSessionInWhichNothingIsSaidEnds() async throws {
        try await TestEndpoint.run {
            TestEndpoint.withoutSound(&$0)
            $0.longestSilence = .milliseconds(300)
        } _: { port, _ in
            let end = try await SocketClient(port: port).end()
            #expect(end.closed == 1000)
        }
    }

    @Test func whatIsCommittedIsHeardThroughAShutdown() async throws {
        try await TestEndpoint.run { port, endpoint in
            let client = try SocketClient.updated(port: port)
            try client.say()
            _ = try await client.messages(until: "committed")
            endpoint.shutdown()
            let messages = try await client.messages(until: "end")
            #expect(messages.contains { $0.transcript == Self.text })
            #expect(messages.last?.closed == 1001)
        }
    }

    @Test func fiftySessionsAtOnceHaveTheirTexts() async throws {
        try await TestEndpoint.run {
            $0.maximumWaitingRecognitions = 64
        } _: { port, _ in
            try await withThrowingTaskGroup { group in
                for _ in 0..<50 {
                    group.addTask {
                        let client = try SocketClient.updated(port: port)
                        try client.say()
                        let last = try await client.messages(until: "completed").last
                        #expect(last?.transcript == Self.text)
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
