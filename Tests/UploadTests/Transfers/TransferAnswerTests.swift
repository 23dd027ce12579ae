// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Upload

/// Answers that come early, late, long, or in an old form.
@Suite struct TransferAnswerTests {
    /// Sends a recording that goes on, unless it is sealed, to a server that takes it so.
    private func begin(
        _ steps: [ServerStep], _ recording: [UInt8] = bytes(640), isSealed: Bool = false,
        deadlines: TransferDeadlines = TransferDeadlines(), limit: Int = 8 << 20
    ) throws -> (RecordingServer, Upload) {
        try Upload.begin(recording, isSealed: isSealed, by: steps, deadlines: deadlines) {
            $0.responseLimit = limit
        }
    }

    /// Reads the whole request, says something, and closes.
    private func saying(_ text: String) -> [ServerStep] {
        [.readHead, .readBodyToEnd, .sendRaw(Array(text.utf8)), .close]
    }

    // MARK: - Refusals

    @Test(arguments: [401, 413, 307, 500], [1, 20_000])
    func anEarlyRefusalInSilenceIsComplete(_ status: Int, words: Int) async throws {
        let text = String(repeating: "why ", count: words)
        let refuse = Gate()
        // No deadline is what ends it: the server keeps the connection open.
        let (server, upload) = try begin(
            [
                .readHead, .readBody(bytes: 640), .stallUntil(refuse),
                .respond(status: status, text: text), .readOn,
            ], deadlines: TransferDeadlines(answer: .ages, refusal: .ages))
        _ = await server.wait(untilBytes: 640)
        // The body is paused now, and no further byte will un-pause it.
        refuse.open()
        #expect(try await !upload.expectAnswer(status, text).isBodyComplete)
        #expect(try #require(await server.finishedRequest()).lastChunkAt == nil)
    }

    @Test func anEarlyRefusalThatOnlyTheConnectionEndsIsComplete() async throws {
        let refuse = Gate()
        let head = "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\n\r\n"
        let (server, upload) = try begin(
            [
                .readHead, .readBody(bytes: 640), .stallUntil(refuse),
                .sendRaw(Array((head + "too long").utf8)), .close,
            ], deadlines: TransferDeadlines(answer: .ages, refusal: .ages))
        _ = await server.wait(untilBytes: 640)
        // Nothing but libcurl knows when this answer is over, and a paused body keeps it from that.
        refuse.open()
        try await upload.expectAnswer(413, "too long")
    }

    @Test func aRefusalWhileSpeakingStopsTheBody() async throws {
        let (server, upload) = try begin(
            [.readHead, .readBody(bytes: 3_200), .respond(status: 413, text: "too long"), .readOn],
            [])
        let deadline = ContinuousClock.now + .patience
        while upload.recorder.record.look({ $0.results.isEmpty }), .now < deadline {
            try upload.append(bytes(640))
            _ = await upload.recorder.wait(within: .milliseconds(20)) { !$0.results.isEmpty }
        }
        let result = try await upload.expectAnswer(413, "too long")
        // What is said after it does not go on its way any more.
        try upload.append(bytes(640))
        let request = try #require(await server.finishedRequest())
        #expect(request.lastChunkAt == nil)
        #expect(request.body.count <= result.sentByteCount)
    }

    @Test(arguments: [(401, 3_000_000), (401, 640), (200, 3_000_000)])
    func whatIsSaidCountsWhenTheServerResetsRightAfter(_ status: Int, _ count: Int) async throws {
        let isRead = Gate()
        let (_, upload) = try begin(
            [
                .readHead, .readBody(bytes: 640), .respond(status: status, text: "heard"),
                .stallUntil(isRead), .reset,
            ], bytes(count))
        #expect(await upload.recorder.wait { !$0.body.isEmpty })
        isRead.open()
        #expect(try await !upload.expectAnswer(status, "heard").isBodyComplete)
    }

    @Test func aRefusalWhoseBodyNeverEndsIsStillARefusal() async throws {
        let (_, upload) = try begin(
            [.readHead, .beginResponse(status: 403), .sendBodyChunk(text: "no"), .readOn],
            deadlines: TransferDeadlines(refusal: .seconds(1)))
        try await upload.expectAnswer(403, "no")
    }

    @Test func aRefusalWithALongBodyIsStillARefusal() async throws {
        let (_, upload) = try begin(
            [.readHead, .respond(status: 500, body: bytes(100_000)), .readOn], limit: 50_000)
        try await upload.expectAnswer(500)
        #expect(upload.recorder.record.look { $0.body.count } <= 50_000)
    }

    @Test func aRefusalWithoutEndIsCut() async throws {
        // The server would go on for more than an hour.
        let (_, upload) = try begin(
            .trickle("why ", times: 100_000, every: .milliseconds(50), status: 503), isSealed: true,
            deadlines: TransferDeadlines(answer: .ages, refusal: .seconds(2)))
        try await upload.expectAnswer(503)
        #expect(upload.recorder.text.hasPrefix("why "))
    }

    // MARK: - Early successes

    /// What is complete before the body cannot be an answer to all of it, though the connection
    /// stays open.
    @Test(arguments: [(200, "early"), (200, ""), (204, "")])
    func anEarlySuccessThatIsCompleteEndsTheTransfer(status: Int, text: String) async throws {
        let (_, upload) = try begin([.readHead, .respond(status: status, text: text), .readOn])
        let result = try await upload.expectAnswer(status)
        #expect(!result.isBodyComplete)
        #expect(result.isEarlyAnswer)
    }

    // MARK: - What is no answer

    static let halves: [[ServerStep]] = [
        [.sendRaw(Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".utf8)), .close],
        [.beginResponse(status: 200), .sendBodyChunk(text: "half"), .close],
        [.beginResponse(status: 200), .sendBodyChunk(text: "half"), .reset],
    ]

    @Test(arguments: halves) func aSuccessThatIsCutIsNone(_ answer: [ServerStep]) async throws {
        let (_, upload) = try begin([.readHead, .readBodyToEnd] + answer, isSealed: true)
        let result = try #require(await upload.result())
        _ = try result.reason { .connectionLost($0) }
        #expect(result.status == 200)
        #expect(result.isBodyComplete)
    }

    struct BadHead: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        /// Nil for any.
        var reason: String?
    }

    static let badHeads: [BadHead] = [
        BadHead(
            testDescription: "300 lines",
            text: "HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: 300) + "\r\n"),
        BadHead(
            testDescription: "300 KiB in lines",
            text: "HTTP/1.1 200 OK\r\n"
                + String(repeating: "X: \(String(repeating: "y", count: 30_000))\r\n", count: 10)
                + "\r\n"),
        BadHead(
            testDescription: "one line of 200 KiB",
            text: "HTTP/1.1 200 OK\r\nX: \(String(repeating: "y", count: 200 << 10))\r\n\r\n",
            reason: "a line of its head is too long, or memory ran out"),
        BadHead(
            testDescription: "a storm of interim responses",
            text: String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 1_000)),
        BadHead(
            testDescription: "endless trailers",
            text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
                + String(repeating: "T: x\r\n", count: 1_000) + "\r\n"),
        BadHead(
            testDescription: "no HTTP", text: "SSH-2.0-OpenSSH_9.2\r\n",
            reason: "what answers there does not speak HTTP"),
        BadHead(testDescription: "HTTP/0.9", text: "<html>hello</html>\r\n\r\n"),
        BadHead(
            testDescription: "101",
            text: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
        BadHead(
            testDescription: "a length below zero",
            text: "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello"),
    ]

    @Test(arguments: badHeads) func aBrokenResponseIsBad(_ head: BadHead) async throws {
        let (_, upload) = try begin(saying(head.text), isSealed: true)
        let reason = try #require(await upload.result()).reason { .badResponse($0) }
        #expect(head.reason == nil ? !reason.isEmpty : reason == head.reason, "\(reason)")
    }

    @Test(.spec("RFC 9112 §7.1"), arguments: ["zz\r\n", "2\r\nokay\r\n", "FFFFFFFFFFFFFFFFF\r\n"])
    func anAnswerWithBrokenChunksIsNone(_ chunks: String) async throws {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
        let (_, upload) = try begin(saying(text), isSealed: true)
        let reason = try #require(await upload.result()).reason { .badResponse($0) }
        #expect(reason.contains("chunk"), "\(reason)")
    }

    // MARK: - What is beside the answer

    @Test(.spec("RFC 9112 §6.3")) func anAnswerOfHTTP10EndsWithTheConnection() async throws {
        let (_, upload) = try begin(
            saying("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold"), isSealed: true)
        let result = try await upload.expectAnswer(200, "old")
        #expect(result.header("content-type") == "text/plain")
    }

    @Test func trailersDoNotBeginTheAnswerAgain() async throws {
        let text = """
            HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\
            Digest: x\r\nContent-Type: text/evil\r\n\r\n
            """
        let (_, upload) = try begin(
            [.readHead, .readBodyToEnd, .sendRaw(Array(text.utf8))], isSealed: true)
        try await upload.expectAnswer(200, "ok")
        #expect(upload.recorder.record.look { $0.heads } == [200])
    }

    @Test func interimResponsesAreNoAnswer() async throws {
        let (_, upload) = try begin(
            [
                .readHead, .sendRaw(Array("HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n".utf8)),
                .readBodyToEnd, .respond(status: 200, text: "ok"),
            ], isSealed: true)
        #expect(try await upload.expectAnswer().header("a") == nil)
        #expect(upload.recorder.record.look { $0.heads } == [200])
    }
}
