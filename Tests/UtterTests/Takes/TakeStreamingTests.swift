// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter

/// The voice is at the service while it is being spoken.
@Suite struct TakeStreamingTests {
    private let period = TestSignal.voice(frames: 320, sampleRate: 16_000)

    @Test func partialTextComesBeforeTheBodyIsClosed() async throws {
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBody(bytes: 640),
                    .beginResponse(
                        status: 200, headers: [HeaderField("Content-Type", "application/json")]),
                    .sendBodyChunk(text: "{\"type\":\"partial\",\"text\":\"go\"}\n"),
                    .readBodyToEnd,
                    .sendBodyChunk(text: "{\"type\":\"final\",\"text\":\"go forward\"}\n"),
                    .endResponse,
                ]
            ])
        let bench = try Bench()
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url())
        let log = EventLog(take)
        speaker.say(period)
        let isHeard = await log.wait {
            if case .heard(let transcript) = $0 { transcript.partial == "go" } else { false }
        }
        #expect(isHeard)
        #expect(server.requests.first?.lastChunkAt == nil)
        speaker.say(period)
        speaker.fallSilent()
        #expect(try await take.end().result.get().text == "go forward")
        let texts = try await log.all().compactMap { event -> String? in
            if case .heard(let transcript) = event { transcript.displayText } else { nil }
        }
        #expect(texts == ["go", "go forward"])
    }

    @Test func theStreamClosesWithTheEndOfTheRecording() async throws {
        let answer = Gate()
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBodyToEnd, .stallUntil(answer),
                    .respond(status: 200, text: "heard"),
                ]
            ])
        let bench = try Bench()
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url())
        let log = EventLog(take)
        speaker.say(period)
        _ = await server.wait(untilBytes: 640)
        speaker.fallSilent()
        // The body is closed although nothing has been answered.
        #expect(await server.request(0) { $0.lastChunkAt != nil } != nil)
        #expect(await log.wait { $0.isCaptured })
        #expect(!log.log.value.hasEnded)
        answer.open()
        #expect(try await take.end().result.get().text == "heard")
    }

    @Test func whatIsSaidDuringASlowConnectIsNotLost() async throws {
        let server = try RecordingServer(
            otherwise: .answer(text: "heard"), connecting: .whenReleased)
        let bench = try Bench()
        let speaker = try Speaker()
        // The kernel asks again after 1, 3, 7, 15 and 31 s.
        let take = try bench.start(speaker.source, to: server.url()) {
            $0.delivery.deadlines.connect = .ages
        }
        let log = EventLog(take)
        var random = SeededRandom()
        var samples: [Int16] = []
        for turn in 0..<20 {
            let said = random.noise(count: 1_600 + turn)
            samples += said
            speaker.say(said)
            _ = await log.wait(within: .milliseconds(100)) { $0.isConnected }
        }
        #expect(!(await log.wait(within: .zero) { $0.isConnected }))
        server.releaseConnects()
        #expect(await log.wait { $0.isConnected })
        speaker.fallSilent()
        #expect(try await take.end().result.get().text == "heard")
        #expect(
            try #require(await server.finishedRequest()).body == WAVBytes.pcm(samples),
            "seed \(random.seed)")
    }

    @Test func aDiskThatDoesNotSyncHoldsNothingUp() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let blocked = Gate()
        let release = Gate()
        // The thread that waits for the disk now waits for us, as it would in fdatasync.
        bench.pipeline.sync.perform {
            blocked.open()
            _ = release.waitBlocking()
        }
        #expect(await blocked.wait())
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url())
        for turn in 1...10 {
            speaker.say(period)
            #expect(await server.wait(untilBytes: turn * 640) != nil)
        }
        speaker.fallSilent()
        // Even the answer is here before the disk has synced a byte.
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "heard")
        #expect(!release.isOpen)
        release.open()
        let manifest = try await bench.manifest(of: take)
        #expect(manifest.state == .answered)
        #expect(manifest.byteCount == 44 + 6_400)
    }

    @Test func aStopEndsTheRecordingAndTheAnswerIsAwaited() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url())
        speaker.say(period)
        _ = await server.wait(untilBytes: 640)
        take.stop()
        let outcome = try await take.end()
        #expect(outcome.capture.cause == .finished)
        #expect(try outcome.result.get().text == "heard")
        #expect(outcome.answerDelay != nil)
        #expect(try #require(await server.finishedRequest()).body == WAVBytes.pcm(period))
    }

    @Test func aPutIsAPutEachTimeAndIsRemembered() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 503, text: "")], otherwise: .answer(text: "put"))
        let bench = try Bench()
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url(), retry: .standard) {
            $0.delivery.service.method = .put
            $0.delivery.retry.pausesAfterRelease = [.milliseconds(1)]
        }
        speaker.say([1, 2, 3])
        speaker.fallSilent()
        #expect(try await take.end().result.get().text == "put")
        #expect(server.requests.map(\.requestLine) == ["PUT / HTTP/1.1", "PUT / HTTP/1.1"])
        #expect(server.requests.map { $0["Transfer-Encoding"] } == ["chunked", nil])
        #expect(server.requests.map { $0["Content-Length"] } == [nil, "6"])
        #expect(
            server.requests.map(\.body) == [WAVBytes.pcm([1, 2, 3]), WAVBytes.pcm([1, 2, 3])])
        let manifest = try await bench.manifest(of: take)
        let record = try #require(manifest.delivery)
        #expect(record.method == "PUT")
        #expect(try DeliveryPlan(record).service.method == .put)
    }

    @Test(arguments: [true, false])
    func progressIsToldWhereItIsWanted(isWanted: Bool) async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let take = try bench.replay([Int16](repeating: 1, count: 32_000), to: server.url()) {
            $0.delivery.reportsProgress = isWanted
        }
        let log = EventLog(take)
        _ = try await take.end()
        let events = try await log.all()
        #expect(events.contains { if case .progress = $0 { true } else { false } } == isWanted)
        #expect(events.contains { $0.isHeard })
    }
}
