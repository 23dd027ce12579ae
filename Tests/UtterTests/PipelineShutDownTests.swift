// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

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
    }
}
