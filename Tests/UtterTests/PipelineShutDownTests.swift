// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import TakeStore
@testable import Utter

/// A pipeline that ends leaves no caller waiting.
@Suite struct PipelineShutDownTests {
    @Test func theOutcomeOfATakeThatStillRunsIsLeft() async throws {
        let server = try RecordingServer(otherwise: [.readHead, .readOn])
        let bench = try Bench()
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url())
        speaker.say(TestSignal.voice(frames: 320, sampleRate: 16_000))
        _ = try #require(await server.wait(untilBytes: 640))
        await onOwnThread { bench.pipeline.shutDown() }
        let outcome = try await take.end()
        #expect(outcome.result == .failure(.left))
        #expect(outcome.imbalance == nil)
        // What it captured is there for the next recovery.
        #expect(try readFile(try #require(outcome.audioPath)).count == 44 + 640)
        #expect(!outcome.isWhole)
    }

    @Test func nothingBeginsAfterTheEnd() async throws {
        let server = try RecordingServer(otherwise: .answer(status: 400, text: ""))
        let bench = try Bench()
        let samples = [Int16](repeating: 1_000, count: 1_600)
        let kept = try await bench.replay(samples, to: server.url()).end()
        let id = try #require(try bench.spool.takes().first).id
        await onOwnThread { bench.pipeline.shutDown() }
        let late = try await bench.replay(samples, to: server.url()).end()
        #expect(late.result == .failure(.left))
        #expect(late.account.capturedFrames == 0 && server.requests.count == 1)
        #expect(kept.id == id)
        await #expect(throws: TakeStoreError.self) {
            _ = try await bench.pipeline.resend(try bench.spool.take(id.text))
        }
        // The take waits as before.
        #expect(try bench.spool.take(id.text).state == .kept)
    }

    @Test func aTakeThatIsOnItsWayIsKeptAndNotCancelled() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try RecordingServer(
            otherwise: [.readHead, .readBodyToEnd, .stallUntil(gate)])
        let bench = try Bench()
        let take = try bench.replay([Int16](repeating: 1_000, count: 8_000), to: server.url())
        let log = EventLog(take)
        #expect(await log.wait { $0.isSent })
        bench.pipeline.shutDown()
        #expect(try await take.end().result == .failure(.left))
        #expect(try bench.spool.store().take(take.id).manifest().state == .kept)
    }
}
