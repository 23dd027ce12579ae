// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

/// Answers that come before the end of the body: they end no recording.
@Suite struct EarlyAnswerTests {
    private let period = [Int16](repeating: 1_000, count: 320)

    /// A server that knows no chunked bodies: it answers at once, and closes with bytes unread.
    private static func ignorant(_ text: String) -> [ServerStep] {
        [
            .readHead,
            .sendRaw(
                Array("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n\(text)".utf8)),
            .close,
        ]
    }

    /// A server that answers at once, and reads no more.
    ///
    /// One that closed could take its answer back.
    private static func satisfied(until gate: Gate) -> [ServerStep] {
        [
            .readHead,
            .respond(
                status: 200, headers: [TestSupport.HeaderField("Content-Type", "application/json")],
                body: Array(#"{"text":"a part"}"#.utf8)),
            .stallUntil(gate),
        ]
    }

    @Test(arguments: [#"{"text":""}"#, #"{"text":"early"}"#, "<html>hello</html>"])
    func theRecordingGoesOnAndIsSentWithItsLength(_ early: String) async throws {
        let server = try RecordingServer(
            scripts: [Self.ignorant(early)], otherwise: .answer(text: "all of it"))
        let bench = try Bench()
        let (speaker, take, log) = try bench.speak(to: server.url())
        speaker.say(period)
        _ = await server.finishedRequest()
        // The next bytes are what libcurl notices the closed connection by.
        var isTold = false
        let deadline = ContinuousClock.now + .patience
        while !isTold, .now < deadline {
            speaker.say(period)
            isTold = await log.wait(within: .milliseconds(50)) { $0.resentAfter == 200 }
        }
        #expect(isTold)
        #expect(server.connectionCount == 1)
        speaker.say(period)
        speaker.fallSilent()
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "all of it")
        #expect(outcome.isWhole)
        #expect(outcome.imbalance == nil)
        let request = try #require(server.requests.last)
        #expect(server.requests.count == 2)
        #expect(request["Content-Length"] == "\(outcome.account.journaledBytes - 44)")
        #expect(request["Transfer-Encoding"] == nil)
        #expect(request["Utter-Attempt"] == "2")
        #expect(request["Idempotency-Key"] == server.requests.first?["Idempotency-Key"])
        #expect(request.body.count == outcome.account.capturedFrames * 2)
        // The next take to the same origin does not try chunks again.
        let next = try await bench.replay(period, to: server.url()).end()
        #expect(try next.result.get().text == "all of it")
        #expect(server.requests.last?["Content-Length"] == "640")
        #expect(server.requests.count == 3)
    }

    /// A take that is sent with its length, once something of it is recorded.
    private func begin(by bench: Bench, to server: RecordingServer) async throws -> (Speaker, Take)
    {
        let (speaker, take, log) = try bench.speak(to: server.url()) {
            $0.delivery.framing = .length
        }
        speaker.say(period)
        #expect(await log.wait { if case .progress = $0 { true } else { false } })
        #expect(server.connectionCount == 0)
        return (speaker, take)
    }

    @Test func withALengthNothingIsSentBeforeTheEnd() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "late"))
        let bench = try Bench()
        let (speaker, take) = try await begin(by: bench, to: server)
        // Nothing has been sent, and so nothing may have been delivered.
        #expect(try await bench.manifest(of: take).attempts == 0)
        speaker.fallSilent()
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "late")
        #expect(server.requests.map { $0["Content-Length"] } == ["640"])
        #expect(try await bench.manifest(of: take).attempts == 1)
    }

    @Test func aTakeThatWaitsForItsLengthCanBeCancelled() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "never"))
        let bench = try Bench()
        let (_, take) = try await begin(by: bench, to: server)
        take.cancel()
        #expect(try await take.end().result == .failure(.cancelled))
        #expect(server.connectionCount == 0)
    }

    /// Once in chunks, once with the length where no framing was asked for, and no third time.
    @Test(
        arguments: [(.chunked, [nil]), (.auto, [nil, "1920000"])] as [(BodyFraming, [String?])])
    func anAnswerOfAPartSettlesNothing(_ framing: BodyFraming, lengths: [String?]) async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try RecordingServer(otherwise: Self.satisfied(until: gate))
        let bench = try Bench()
        let noise = [Int16](repeating: 1_000, count: 16_000 * 60)
        let take = try bench.replay(noise, to: server.url()) { $0.delivery.framing = framing }
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "a part")
        #expect(!outcome.isWhole)
        #expect(outcome.account.capturedFrames == noise.count)
        #expect(outcome.attempts.allSatisfy { !$0.result.isBodyComplete })
        #expect(outcome.takenCount == 0)
        #expect(outcome.audioPath != nil)
        #expect(outcome.shortfall?.hasPrefix("the service answered when it had ") == true)
        #expect(server.requests.map { $0["Content-Length"] } == lengths)
        #expect(try await bench.files(of: take).contains("audio.wav"))
        guard framing == .auto else { return }
        #expect(outcome.shortfall?.hasSuffix(" of 60.0 s") == true)
        let manifest = try await bench.manifest(of: take)
        #expect(manifest.state == .kept)
        #expect(manifest.isHeld == true)
        #expect(manifest.transcript == "a part")
    }
}

/// Answers that say that they are complete, and whose stream stays open.
@Suite struct OpenAnswerTests {
    private let samples = [Int16](repeating: 1_000, count: 3_200)
    private static let head = ServerStep.beginResponse(
        status: 200, headers: [TestSupport.HeaderField("Content-Type", "text/event-stream")])
    private static let text = ServerStep.sendBodyChunk(
        text: "data: {\"text\":\"go forward\"}\n\ndata: [DONE]\n\n")

    /// The outcome of a take for which no deadline ends anything.
    private func outcome(_ answer: [ServerStep]) async throws -> (TakeOutcome, RecordingServer) {
        let server = try RecordingServer(otherwise: [.readHead, .readBodyToEnd] + answer)
        let bench = try Bench()
        let take = try bench.replay(samples, to: server.url()) { plan in
            plan.delivery.deadlines = TransferDeadlines(answer: .ages)
        }
        return (try await take.end(), server)
    }

    /// What may follow the mark: nothing, or more that is not read.
    private static let rests: [ServerStep] = [
        .readOn,
        .sendAgainAndAgain(
            Array("1a\r\ndata: {\"text\":\"and more\"}\n\r\n".utf8), times: .max),
    ]

    @Test(arguments: rests) func theMarkOfItsEndIsItsEnd(_ rest: ServerStep) async throws {
        let (outcome, server) = try await outcome([Self.head, Self.text, rest])
        #expect(try outcome.result.get().text == "go forward")
        #expect(outcome.isWhole && outcome.attempts.count == 1)
        #expect(outcome.attempts.first?.result.ending == .answered)
        #expect(server.requests.count == 1)
    }

    /// The thread `answers` reads it, and the transfer thread learns of the mark from that.
    @Test func theMarkOfALongAnswerIsItsEnd() async throws {
        let words = (0..<4_000).map { "word \($0)" }
        var script = [Self.head]
        for word in words {
            script.append(.sendBodyChunk(text: "data: {\"text\":\"\(word)\"}\n\n"))
        }
        script += [.sendBodyChunk(text: "data: [DONE]\n\n"), .readOn]
        let (outcome, server) = try await outcome(script)
        #expect(try outcome.result.get().text == words.joined(separator: " "))
        #expect(outcome.attempts.first?.result.ending == .answered)
        #expect(server.requests.count == 1)
    }

    @Test func anErrorInTheStreamIsToldAtOnce() async throws {
        let (outcome, _) = try await outcome([
            Self.head,
            .sendBodyChunk(text: "event: error\ndata: {\"error\":{\"message\":\"no room\"}}\n\n"),
            .readOn,
        ])
        guard case .failure(.answerUnusable(.serviceReported(let message, _))) = outcome.result
        else {
            Issue.record("\(outcome.result)")
            return
        }
        #expect(message == "no room")
        #expect(outcome.attempts.count == 1)
    }

    @Test func aMarkBeforeTheEndOfTheRecordingIsNoAnswerToAllOfIt() async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .readBody(bytes: 640), Self.head, Self.text, .readOn]],
            otherwise: .answer(text: "all of it"))
        let bench = try Bench()
        let (speaker, take, log) = try bench.speak(to: server.url())
        speaker.say([Int16](repeating: 1_000, count: 320))
        #expect(await log.wait { $0.resentAfter == 200 })
        speaker.fallSilent()
        #expect(try await take.end().result.get().text == "all of it")
        #expect(server.requests.count == 2)
    }
}
