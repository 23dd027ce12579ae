// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import TakeStore
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
                status: 200, headers: [HeaderField("Content-Type", "application/json")],
                body: Array(#"{"text":"a part"}"#.utf8)),
            .stallUntil(gate),
        ]
    }

    @Test(arguments: [#"{"text":""}"#, #"{"text":"early"}"#, "<html>hello</html>"])
    func theRecordingGoesOnAndIsSentWithItsLength(_ early: String) async throws {
        let server = try RecordingServer(
            scripts: [Self.ignorant(early)], otherwise: .answer(text: "all of it"))
        let bench = try Bench()
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url())
        let log = EventLog(take)
        speaker.say(period)
        _ = await server.finishedRequest()
        // The next bytes are what libcurl notices the closed connection by.
        var isTold = false
        let deadline = ContinuousClock.now + .patience
        while !isTold, .now < deadline {
            speaker.say(period)
            isTold = await log.wait(within: .milliseconds(50)) {
                if case .answeredEarly(status: 200, _, isResent: true) = $0 { true } else { false }
            }
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

    @Test func aServiceThatWantsALengthGetsOne() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 411, text: "")], otherwise: .answer(text: "with length"))
        let bench = try Bench()
        let outcome = try await bench.replay(period, to: server.url()).end()
        #expect(try outcome.result.get().text == "with length")
        #expect(server.requests.map { $0["Content-Length"] } == [nil, "640"])
        #expect(server.requests.map { $0["Transfer-Encoding"] } == ["chunked", nil])
    }

    @Test func chunksThatWereAskedForStayChunks() async throws {
        let server = try RecordingServer(otherwise: .answer(status: 411, text: ""))
        let bench = try Bench()
        let outcome = try await bench.replay(period, to: server.url()) {
            $0.delivery.framing = .chunked
        }.end()
        #expect(outcome.result == .failure(.refused(status: 411, message: nil, advice: .length)))
        #expect(server.requests.count == 1)
    }

    @Test func withALengthNothingIsSentBeforeTheEnd() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "late"))
        let bench = try Bench()
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url()) {
            $0.delivery.framing = .length
        }
        let log = EventLog(take)
        speaker.say(period)
        #expect(await log.wait { if case .progress = $0 { true } else { false } })
        #expect(server.connectionCount == 0)
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
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url()) {
            $0.delivery.framing = .length
        }
        let log = EventLog(take)
        speaker.say(period)
        #expect(await log.wait { if case .progress = $0 { true } else { false } })
        take.cancel()
        #expect(try await take.end().result == .failure(.cancelled))
        #expect(server.connectionCount == 0)
    }

    @Test func aServiceThatReadsChunksIsNotAskedForAPartAgain() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try RecordingServer(otherwise: Self.satisfied(until: gate))
        let bench = try Bench()
        let noise = [Int16](repeating: 1_000, count: 16_000 * 60)
        let take = try bench.replay(noise, to: server.url()) { $0.delivery.framing = .chunked }
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "a part")
        #expect(!outcome.isWhole)
        #expect(server.requests.count == 1)
        #expect(try await bench.files(of: take).contains("audio.wav"))
    }

    @Test func anAnswerOfAPartSettlesNothing() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try RecordingServer(otherwise: Self.satisfied(until: gate))
        let bench = try Bench()
        let noise = [Int16](repeating: 1_000, count: 16_000 * 60)
        let take = try bench.replay(noise, to: server.url())
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "a part")
        #expect(!outcome.isWhole)
        // Once in chunks, once with the length, and no third time.
        #expect(server.requests.count == 2)
        #expect(outcome.shortfall?.hasSuffix(" of 60.0 s") == true)
        let manifest = try await bench.manifest(of: take)
        #expect(manifest.state == .kept)
        #expect(manifest.isHeld == true)
        #expect(manifest.transcript == "a part")
        #expect(try await bench.files(of: take).contains("audio.wav"))
    }
}
