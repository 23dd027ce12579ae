// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Upload

/// Answers that come early, late, long, or in an old form.
@Suite struct TransferAnswerTests {
    @Test(arguments: [401, 413, 307, 500], [1, 20_000])
    func anEarlyRefusalInSilenceIsComplete(_ status: Int, words: Int) async throws {
        let text = String(repeating: "why ", count: words)
        let refuse = Gate()
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBody(bytes: 640), .stallUntil(refuse),
                    .respond(status: status, text: text), .readOn,
                ]
            ])
        // No deadline is what ends it: the server keeps the connection open.
        let upload = try Upload(
            to: server.url(), bytes(640),
            deadlines: TransferDeadlines(answer: .ages, refusal: .ages))
        _ = await server.wait(untilBytes: 640)
        // The body is paused now, and no further byte will un-pause it.
        refuse.open()
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.status == status)
        #expect(!result.isBodyComplete)
        #expect(upload.recorder.text == text)
        #expect(try #require(await server.finishedRequest()).lastChunkAt == nil)
    }

    @Test func anEarlyRefusalThatOnlyTheConnectionEndsIsComplete() async throws {
        let refuse = Gate()
        let head = "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\n\r\n"
        let server = try RecordingServer(otherwise: [
            .readHead, .readBody(bytes: 640), .stallUntil(refuse),
            .sendRaw(Array((head + "too long").utf8)), .close,
        ])
        let upload = try Upload(
            to: server.url(), bytes(640),
            deadlines: TransferDeadlines(answer: .ages, refusal: .ages))
        _ = await server.wait(untilBytes: 640)
        // Nothing but libcurl knows when this answer is over, and a paused body keeps it from that.
        refuse.open()
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.status == 413)
        #expect(upload.recorder.text == "too long")
    }

    @Test(arguments: [
        (
            "HTTP/1.1 200 OK\r\nx: " + String(repeating: "x", count: 200_000) + "\r\n\r\n",
            "a line of its head is too long, or memory ran out"
        ),
        ("SSH-2.0-OpenSSH_9.2\r\n", "what answers there does not speak HTTP"),
    ])
    func whatIsNoHeadIsSaid(_ text: String, _ reason: String) async throws {
        let server = try RecordingServer(
            otherwise: [.readHead, .readBodyToEnd, .sendRaw(Array(text.utf8)), .close])
        let upload = try Upload(to: server.url(), bytes(640), isSealed: true)
        let result = try #require(await upload.result())
        #expect(result.ending == .badResponse(reason))
    }

    @Test func aRefusalWhileSpeakingStopsTheBody() async throws {
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBody(bytes: 3_200), .respond(status: 413, text: "too long"),
                    .readOn,
                ]
            ])
        let upload = try Upload(to: server.url())
        let deadline = ContinuousClock.now + .patience
        while upload.recorder.record.look({ $0.results.isEmpty }), .now < deadline {
            try upload.append(bytes(640))
            _ = await upload.recorder.wait(within: .milliseconds(20)) { !$0.results.isEmpty }
        }
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.status == 413)
        #expect(upload.recorder.text == "too long")
        // What is said after it does not go on its way any more.
        try upload.append(bytes(640))
        let request = try #require(await server.finishedRequest())
        #expect(request.lastChunkAt == nil)
        #expect(request.body.count <= result.sentByteCount)
    }

    @Test(arguments: [true, false])
    func aRefusalIsReadWhenTheServerResetsRightAfter(isSpeaking: Bool) async throws {
        let isRead = Gate()
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBody(bytes: 640), .respond(status: 401, text: "no"),
                    .stallUntil(isRead), .reset,
                ]
            ])
        let upload = try Upload(to: server.url(), bytes(isSpeaking ? 3_000_000 : 640))
        #expect(await upload.recorder.wait { !$0.body.isEmpty })
        isRead.open()
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.status == 401)
        #expect(upload.recorder.text == "no")
    }

    @Test func aRefusalWhoseBodyNeverEndsIsStillARefusal() async throws {
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .beginResponse(status: 403), .sendBodyChunk(text: "no"),
                    .readOn,
                ]
            ])
        let upload = try Upload(
            to: server.url(), bytes(640), deadlines: TransferDeadlines(refusal: .seconds(1)))
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.status == 403)
        #expect(upload.recorder.text == "no")
    }

    @Test func aRefusalWithALongBodyIsStillARefusal() async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .respond(status: 500, body: bytes(100_000)), .readOn]])
        let upload = try Upload(to: server.url(), bytes(640)) { $0.responseLimit = 50_000 }
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.status == 500)
        #expect(upload.recorder.record.look { $0.body.count } <= 50_000)
    }

    /// What is complete before the body cannot be an answer to all of it, though the connection
    /// stays open.
    @Test(arguments: [(200, "early"), (200, ""), (204, "")])
    func anEarlySuccessThatIsCompleteEndsTheTransfer(status: Int, text: String) async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .respond(status: status, text: text), .readOn]])
        let upload = try Upload(to: server.url(), bytes(640))
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.status == status)
        #expect(!result.isBodyComplete)
        #expect(result.isEarlyAnswer)
    }

    @Test func whileAnEarlySuccessIsUnderWayTheBodyGoesOn() async throws {
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .beginResponse(status: 200), .sendBodyChunk(text: "early"),
                    .readBodyToEnd, .endResponse,
                ]
            ])
        let upload = try Upload(to: server.url(), bytes(640))
        #expect(await upload.recorder.wait { $0.body.count == 5 })
        try upload.append(bytes(640, from: 640))
        _ = await server.wait(untilBytes: 1_280)
        #expect(upload.recorder.record.look { $0.results.isEmpty })
        upload.seal()
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.isBodyComplete)
        #expect(try #require(await server.finishedRequest()).body == bytes(1_280))
    }

    @Test func anEarlySuccessCountsWhenTheServerResetsAfterIt() async throws {
        let isRead = Gate()
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBody(bytes: 640), .respond(status: 200, text: "heard"),
                    .stallUntil(isRead), .reset,
                ]
            ])
        let upload = try Upload(to: server.url(), bytes(3_000_000))
        #expect(await upload.recorder.wait { !$0.body.isEmpty })
        isRead.open()
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.status == 200)
        #expect(!result.isBodyComplete)
        #expect(upload.recorder.text == "heard")
    }

    @Test func aSuccessThatIsCutIsNone() async throws {
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBodyToEnd,
                    .sendRaw(Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".utf8)),
                    .close,
                ],
                [
                    .readHead, .readBodyToEnd, .beginResponse(status: 200),
                    .sendBodyChunk(text: "half"), .close,
                ],
                [
                    .readHead, .readBodyToEnd, .beginResponse(status: 200),
                    .sendBodyChunk(text: "half"), .reset,
                ],
            ])
        for _ in 0..<3 {
            let upload = try Upload(to: server.url(), bytes(10), isSealed: true)
            let result = try #require(await upload.result())
            _ = try result.reason { .connectionLost($0) }
            #expect(result.status == 200)
            #expect(result.isBodyComplete)
        }
    }

    @Test(.spec("RFC 9112 §6.3")) func anAnswerOfHTTP10EndsWithTheConnection() async throws {
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBodyToEnd,
                    .sendRaw(Array("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold".utf8)),
                    .close,
                ]
            ])
        let upload = try Upload(to: server.url(), bytes(10), isSealed: true)
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.header("content-type") == "text/plain")
        #expect(upload.recorder.text == "old")
    }

    @Test func aResponseLongerThanTheLimitIsBad() async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .readBodyToEnd, .respond(status: 200, body: bytes(9_000))]])
        let upload = try Upload(to: server.url(), isSealed: true) { $0.responseLimit = 8_999 }
        let result = try #require(await upload.result())
        #expect(result.ending == .badResponse("the response is longer than 8999 bytes"))
        #expect(upload.recorder.record.look { $0.body.count } <= 8_999)
    }

    @Test func aResponseOfTheLimitIsRead() async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .readBodyToEnd, .respond(status: 200, body: bytes(8_999))]])
        let upload = try Upload(to: server.url(), isSealed: true) { $0.responseLimit = 8_999 }
        #expect(try #require(await upload.result()).ending == .answered)
    }

    struct BadHead: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
    }

    @Test(arguments: [
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
            text: "HTTP/1.1 200 OK\r\nX: \(String(repeating: "y", count: 200 << 10))\r\n\r\n"),
        BadHead(
            testDescription: "a storm of interim responses",
            text: String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 1_000)),
        BadHead(
            testDescription: "endless trailers",
            text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
                + String(repeating: "T: x\r\n", count: 1_000) + "\r\n"),
        BadHead(testDescription: "no HTTP", text: "SSH-2.0-OpenSSH_9.2p1\r\n"),
        BadHead(testDescription: "HTTP/0.9", text: "<html>hello</html>\r\n\r\n"),
        BadHead(
            testDescription: "101",
            text: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
        BadHead(
            testDescription: "two lengths",
            text: "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello"),
    ]) func aBrokenResponseIsBad(_ head: BadHead) async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .readBodyToEnd, .sendRaw(Array(head.text.utf8)), .close]])
        let upload = try Upload(to: server.url(), bytes(10), isSealed: true)
        let result = try #require(await upload.result())
        let reason = try result.reason { .badResponse($0) }
        #expect(!reason.isEmpty)
    }

    @Test func trailersDoNotBeginTheAnswerAgain() async throws {
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBodyToEnd,
                    .sendRaw(
                        Array(
                            """
                            HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\
                            Digest: x\r\nContent-Type: text/evil\r\n\r\n
                            """.utf8)),
                ]
            ])
        let upload = try Upload(to: server.url(), bytes(10), isSealed: true)
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.status == 200)
        #expect(upload.recorder.record.look { $0.heads } == [200])
        #expect(upload.recorder.text == "ok")
    }

    @Test(.spec("RFC 9112 §7.1"), arguments: ["zz\r\n", "2\r\nokay\r\n", "FFFFFFFFFFFFFFFFF\r\n"])
    func anAnswerWithBrokenChunksIsNone(_ chunks: String) async throws {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
        let server = try RecordingServer(
            scripts: [[.readHead, .readBodyToEnd, .sendRaw(Array(text.utf8)), .close]])
        let upload = try Upload(to: server.url(), bytes(10), isSealed: true)
        let reason = try #require(await upload.result()).reason { .badResponse($0) }
        #expect(reason.contains("chunked-encoding"), "\(reason)")
    }

    @Test func aRefusalWithoutEndIsCut() async throws {
        let server = try RecordingServer(
            scripts: [.trickle("why ", times: 100_000, every: .milliseconds(50), status: 503)])
        let upload = try Upload(
            to: server.url(), bytes(10), isSealed: true,
            deadlines: TransferDeadlines(answer: .ages, refusal: .seconds(2)))
        // The server would go on for more than an hour.
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.status == 503)
        #expect(upload.recorder.text.hasPrefix("why "))
    }

    @Test func interimResponsesAreNoAnswer() async throws {
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .sendRaw(Array("HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n".utf8)),
                    .readBodyToEnd, .respond(status: 200, text: "ok"),
                ]
            ])
        let upload = try Upload(to: server.url(), bytes(10), isSealed: true)
        let result = try #require(await upload.result())
        #expect(result.status == 200)
        #expect(result.header("a") == nil)
        #expect(upload.recorder.record.look { $0.heads } == [200])
    }
}
