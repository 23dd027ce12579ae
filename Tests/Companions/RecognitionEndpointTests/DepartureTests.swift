// SPDX-License-Identifier: Apache-2.0

import Cryptography
import Synchronization
import TestSupport
import Testing

@testable import RecognitionEndpoint

/// Clients that leave before they have their answer, or only listen, or say nothing.
@Suite struct DepartureTests {
    private let audio = [UInt8](repeating: 5, count: 32_000)

    /// Runs an endpoint with one recogniser, whose first program works until the file `go` is there.
    private func run<Value>(
        _ body: (_ port: Int, RecognitionEndpoint, TestEar) async throws -> Value
    ) async throws -> Value {
        let ear = try TestEar("late")
        return try await TestEndpoint.run {
            $0.recogniser = ear.recogniser
            $0.maximumConcurrentRecognitions = 1
        } _: { port, endpoint in
            try await body(port, endpoint, ear)
        }
    }

    private func whole(_ fields: [String], to port: Int) async throws -> RawClient {
        let audio = self.audio
        return try await onThread {
            let client = try RawClient(port: port)
            if fields.contains("HTTP/1.0") {
                let head = "POST /recognize HTTP/1.0\r\nContent-Type: audio/pcm\r\n"
                try client.send(Array("\(head)Content-Length: \(audio.count)\r\n\r\n".utf8))
                try client.send(audio)
                return client
            }
            try client.sendHead("/recognize", fields)
            if fields[0].contains("form-data") {
                let head =
                    "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n"
                try client.sendChunk(Array("\(head)Content-Type: audio/pcm\r\n\r\n".utf8))
                try client.sendChunk(audio)
                try client.sendEnd(Array("\r\n--x--\r\n".utf8))
            } else {
                try client.sendEnd(audio)
            }
            return client
        }
    }

    /// The first program would work on for ever.
    @Test(arguments: [
        ["Content-Type: audio/pcm", "Accept: text/plain"],
        ["Content-Type: audio/pcm", "Accept: application/x-ndjson"],
        ["Content-Type: multipart/form-data; boundary=x", "Accept: application/json"],
        ["HTTP/1.0"],
    ])
    func aClientThatHasGoneIsGivenUp(_ fields: [String]) async throws {
        try await run { port, endpoint, ear in
            var client: RawClient? = try await whole(fields, to: port)
            #expect(await comesTrue { endpoint.load.running == 1 })
            let waiting = try await whole(["Content-Type: audio/pcm"], to: port)
            #expect(await comesTrue { endpoint.load.waiting == 1 })
            withExtendedLifetime(client) {}
            client = nil
            // Another program has it.
            let answer = try await onThread { try waiting.readAnswer() }
            #expect(answer.body.contains(TestEar.text(audio)), "\(answer)")
            #expect(try ear.startCount == 2)
        }
    }

    @Test func oneThatHasGoneFromTheQueueGetsNoRecogniser() async throws {
        try await run { port, endpoint, ear in
            let busy = try await whole(["Content-Type: audio/pcm"], to: port)
            #expect(await comesTrue { endpoint.load.running == 1 })
            var waiting: RawClient? = try await whole(["Content-Type: audio/pcm"], to: port)
            #expect(await comesTrue { endpoint.load.waiting == 1 })
            withExtendedLifetime(waiting) {}
            waiting = nil
            #expect(await comesTrue { endpoint.load.waiting == 0 })
            try ear.folder.write([], to: "go")
            let answer = try await onThread { try busy.readAnswer() }
            #expect(answer.body.contains(TestEar.text(audio)))
            #expect(try ear.startCount == 1)
        }
    }

    @Test func oneWithAKeyMayAskAgain() async throws {
        try await run { port, _, ear in
            let fields = ["Content-Type: audio/pcm", "Accept: text/plain", "Idempotency-Key: k"]
            var client: RawClient? = try await whole(fields, to: port)
            // Before the endpoint has the whole body, the second request would take its place.
            #expect(await comesTrue { (try? ear.folder.names().contains("whole")) == true })
            withExtendedLifetime(client) {}
            client = nil
            let again = try await whole(fields, to: port)
            try ear.folder.write([], to: "go")
            let answer = try await onThread { try again.readAnswer() }
            #expect(answer.body == TestEar.text(audio) + "\n")
            #expect(answer.head.fields["idempotent-replayed"] == "true")
            #expect(try ear.startCount == 1)
        }
    }

    @Test(.spec("RFC 9112 §9.6"), arguments: ["text/plain", "application/x-ndjson"])
    func oneThatOnlyListensGetsItsAnswer(_ accept: String) async throws {
        try await run { port, _, ear in
            let client = try await whole(
                ["Content-Type: audio/pcm", "Accept: \(accept)"], to: port)
            client.endSending()
            let (body, fillers) = try await onThread {
                var head = try client.readHead()
                if head.status == 100 {
                    try ear.folder.write([], to: "go")
                    while head.status == 100 { head = try client.readHead() }
                    return (try client.readBody(head), "")
                }
                var (lines, fillers, isWaiting) = ("", "", true)
                while true {
                    let chunk = try client.readChunk()
                    guard !chunk.isEmpty else { return (lines, fillers) }
                    if chunk == " ", fillers.isEmpty { try ear.folder.write([], to: "go") }
                    if chunk != " " { isWaiting = isWaiting && fillers.isEmpty }
                    if chunk == " ", isWaiting { fillers += chunk }
                    lines += chunk
                }
            }
            #expect(body.contains(TestEar.text(audio)))
            // The endpoint finds it out by spaces in front of a line, one a second.
            #expect(accept == "text/plain" || body.contains("\n\(fillers){") && !fillers.isEmpty)
        }
    }

    // MARK: - Silent clients

    @Test func aHeadHasItsTime() async throws {
        try await TestEndpoint.run {
            TestEndpoint.withoutSound(&$0)
            ($0.patience.head, $0.idleTimeout) = (.seconds(1), .ages)
        } _: { port, _ in
            try await onThread {
                let clients = try (0..<3).map { _ in try RawClient(port: port) }
                try clients[1].send(Array("GET /health".utf8))
                // This one has had an answer.
                #expect(try clients[2].get("/healthz").head.status == 200)
                try clients[2].send(Array("GET".utf8))
                for client in clients { #expect(try client.readToEnd() == []) }
            }
        }
    }

    @Test func theOldestSilentConnectionGivesWay() async throws {
        try await TestEndpoint.run {
            TestEndpoint.withoutSound(&$0)
            ($0.patience.head, $0.idleTimeout) = (.ages, .ages)
        } _: { port, _ in
            try await onThread {
                // Once it has its answer, it waits for a request before the others are there:
                // they are on several event loops, which may note them in any order.
                let oldest = try RawClient(port: port)
                #expect(try oldest.get("/healthz").head.status == 200)
                let silent = try (0..<Anteroom.limit + 20).map { _ in try RawClient(port: port) }
                let busy = try RawClient(port: port)
                #expect(try busy.get("/healthz").head.status == 200)
                #expect(try oldest.readToEnd() == [])
                withExtendedLifetime(silent) {}
            }
        }
    }

    /// While all are in the middle of a request, a new one waits for the first that is answered.
    @Test func aFullEndpointGoesOnWhenOneHasBeenAnswered() async throws {
        try await TestEndpoint.run {
            TestEndpoint.withoutSound(&$0)
            ($0.patience.head, $0.idleTimeout, $0.allowsFaults) = (.ages, .ages, true)
        } _: { port, _ in
            try await onThread {
                let fields = ["Content-Type: audio/pcm", "X-Misbehave: after=2 status=503"]
                let busy = try (0..<Anteroom.limit).map { _ in
                    let client = try RawClient(port: port)
                    try client.sendHead("/recognize", fields, framing: "Content-Length: 1")
                    return client
                }
                let late = try RawClient(port: port)
                try late.send(Array("GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n".utf8))
                try busy[0].send([0])
                #expect(try busy[0].readAnswer().head.status == 503)
                #expect(try late.readAnswer().head.status == 200)
                withExtendedLifetime(busy) {}
            }
        }
    }

    // MARK: - Keys

    @Test func anEndpointWithAKeyRefusesPlainBodiesUnlessItIsTold() async throws {
        let secret = "utter-key-" + String(repeating: "0123456789abcdef", count: 4)
        let key = try EncryptionKey(secret: Array(secret.utf8))
        for isTold in [false, true] {
            try await TestEndpoint.run {
                TestEndpoint.withoutSound(&$0)
                ($0.bodyKey, $0.takesPlainBodies) = (key, isTold)
            } _: { port, _ in
                for (body, type, status) in [
                    ("", "audio/pcm", 200), ("--x--\r\n", "multipart/form-data; boundary=x", 400),
                ] {
                    let answer = try await TestEndpoint.post(Array(body.utf8), type: type, to: port)
                    #expect(answer.head.status == (isTold ? status : 415))
                    #expect(
                        isTold || answer.body.contains("takes encrypted ones"), "\(answer.body)")
                }
            }
        }
    }
}
