// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Upload

@Suite struct TransferBodyTests {
    @Test func aGrowingJournalArrivesPieceByPiece() async throws {
        let (server, upload) = try Upload.begin()
        var sent: [UInt8] = []
        for count in [640, 1, 640, 32_000, 7, 100_000, 640] {
            let piece = bytes(count, from: sent.count)
            sent += piece
            try upload.append(piece)
            // Each piece is at the server before the next one exists.
            let request = try #require(await server.wait(untilBytes: sent.count))
            #expect(request.body == sent)
            #expect(request.lastChunkAt == nil)
        }
        upload.seal()
        let request = try #require(await server.finishedRequest())
        #expect(request.body == sent)
        #expect(request.isComplete)
        #expect(request.framingErrors.isEmpty)
        let result = try await upload.expectAnswer()
        #expect(result.sentByteCount == sent.count)
        #expect(result.isBodyComplete)
        #expect(server.problems.isEmpty)
    }

    @Test func theLastChunkComesOnlyAfterTheDrain() async throws {
        let gate = Gate()
        let count = 12_000_000
        let (server, upload) = try Upload.begin(
            bytes(count), isSealed: true,
            by: [
                .readHead, .readBody(bytes: 1), .stallUntil(gate), .readBodyToEnd,
                .respond(status: 200, text: ""),
            ], deadlines: TransferDeadlines(stall: .ages), receiveBufferBytes: 8_192)
        #expect(await upload.recorder.wait { $0.sentByteCount > 0 })
        gate.open()
        let request = try #require(await server.finishedRequest())
        #expect(request.body == bytes(count))
        #expect(try #require(await upload.result()).sentByteCount == count)
    }

    @Test func aLongPauseIsFollowedByTheRest() async throws {
        let deadlines = TransferDeadlines(stall: .seconds(3), answer: .seconds(3))
        let (server, upload) = try Upload.begin(bytes(500), deadlines: deadlines)
        _ = await server.wait(untilBytes: 500)
        // Longer than the deadlines of a stall and of an answer: silence is neither.
        #expect(await upload.result(within: .seconds(4)) == nil)
        try upload.append(bytes(500, from: 500))
        #expect(try #require(await server.wait(untilBytes: 1_000)).body == bytes(1_000))
        upload.seal()
        #expect(try #require(await upload.result()).ending == .answered)
    }

    @Test(.spec("RFC 9112 §7.1")) func theRequestIsChunkedOnceAndExpectsNothing() async throws {
        let server = try RecordingServer()
        let upload = try Upload(to: server.url("/v1/speech?lang=en"), bytes(10), isSealed: true) {
            $0.headers = [
                (name: "Content-Type", value: "audio/wav"), (name: "X-Key", value: "a b"),
                (name: "X-Empty", value: ""),
            ]
        }
        let request = try #require(await server.finishedRequest())
        _ = await upload.result()
        #expect(request.method == "POST")
        #expect(request.target == "/v1/speech?lang=en")
        #expect(request.values(of: "Transfer-Encoding") == ["chunked"])
        #expect(request.values(of: "Content-Length") == [])
        #expect(request.values(of: "Expect") == [])
        #expect(request.values(of: "Content-Type") == ["audio/wav"])
        #expect(request.values(of: "X-Key") == ["a b"])
        #expect(request.values(of: "X-Empty") == [""])
        #expect(request.values(of: "Host") == ["127.0.0.1:\(server.port)"])
        #expect(request.framingErrors.isEmpty)
    }

    @Test func anEmptyBodyIsOneLastChunk() async throws {
        let (server, upload) = try Upload.begin(isSealed: true)
        let request = try #require(await server.finishedRequest())
        #expect(request.isComplete)
        #expect(request.chunks.isEmpty)
        let result = try await upload.expectAnswer()
        #expect(result.isBodyComplete)
        #expect(result.sentByteCount == 0)
    }

    @Test func twoHundredRandomBodiesArriveByteForByte() async throws {
        var random = SeededRandom()
        let server = try RecordingServer()
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        for number in 0..<200 {
            let count = number == 0 ? 0 : Int.random(in: 0...200_000, using: &random)
            let body = random.bytes(count)
            let pieces = random.pieces(
                of: count, upTo: Int.random(in: max(1, count / 40)...max(1, count), using: &random))
            let upload = try Upload(to: server.url("/\(number)"), on: loop)
            for piece in pieces { try upload.append(Array(body[piece])) }
            upload.seal()
            let result = try #require(await upload.result())
            #expect(result.ending == .answered, "seed \(random.seed), body \(number)")
            let request = try #require(await server.finishedRequest(number))
            #expect(request.body == body, "seed \(random.seed), body \(number)")
            #expect(request.framingErrors.isEmpty, "seed \(random.seed), body \(number)")
        }
    }

    @Test func theResponseIsReadWhileTheBodyIsSent() async throws {
        var steps: [ServerStep] = [.readHead, .beginResponse(status: 200)]
        for turn in 1...5 {
            steps += [.readBody(bytes: turn * 640), .sendBodyChunk(text: "heard \(turn)\n")]
        }
        steps += [.readBodyToEnd, .sendBodyChunk(text: "all"), .endResponse]
        let (server, upload) = try Upload.begin(by: steps)
        var expected = ""
        for turn in 1...5 {
            try upload.append(bytes(640, from: turn * 640 - 640))
            expected += "heard \(turn)\n"
            let wanted = expected
            // The answer to this piece is here before the next piece exists.
            #expect(
                await upload.recorder.wait { String(decoding: $0.body, as: UTF8.self) == wanted })
        }
        upload.seal()
        let result = try await upload.expectAnswer(200, expected + "all")
        #expect(result.isBodyComplete)
        #expect(try #require(await server.finishedRequest()).body == bytes(3_200))
        #expect(upload.recorder.record.look { $0.heads } == [200])
        let firstIn = try #require(result.timings.firstByteIn)
        #expect(firstIn < (try #require(result.timings.lastByteOut)))
    }

    @Test func noTurnCarriesMoreThanTheBuffersHold() async throws {
        let body = bytes(3_000_000)
        let answer = bytes(2_000_000, from: 7)
        let (server, upload) = try Upload.begin(
            body, isSealed: true,
            by: [.readHead, .readBodyToEnd, .respond(status: 200, body: answer)])
        #expect(try #require(await upload.result()).ending == .answered)
        let isSame = server.requests.first?.body == body
        #expect(isSame)
        let record = upload.recorder.record.value
        #expect(record.body == answer)
        for piece in [record.longestPieces.sent, record.longestPieces.received] {
            #expect((1...(128 << 10)).contains(piece))
        }
    }
}
