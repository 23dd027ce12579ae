// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter

/// A take whose transfer fails is sent again from its first byte, by our decision and numbered.
@Suite struct ResendTests {
    private let folder: TemporaryFolder
    private let pipeline: Pipeline
    private let samples: [UInt8]

    /// Short pauses: what is tested is their order, not their length.
    private static let quick = RetryPolicy(
        pausesWhileSpeaking: [.milliseconds(10), .milliseconds(20)],
        pausesAfterRelease: [.milliseconds(10), .milliseconds(20), .milliseconds(30)],
        longestRetryAfter: .seconds(30), unknownOutcome: .resend)

    init() throws {
        folder = try TemporaryFolder()
        pipeline = try Pipeline(
            spool: Spool(at: folder.path("state"), retention: .withoutAnsweredAudio))
        samples = Array(try readFile(Clip.goForward.path).dropFirst(44))
    }

    private func start(_ server: RecordingServer, pace: Pace = .unpaced) throws -> Take {
        pipeline.start(
            TakePlan(
                source: FileReplay(path: Clip.goForward.path, pace: pace),
                service: try RecognitionService(url: ServiceURL(server.url())),
                retry: Self.quick))
    }

    @Test func aBreakInMidSentenceIsInvisible() async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .readBody(bytes: 16_000), .reset], .answer(text: "whole")])
        let take = try start(server, pace: .realTime)
        var isInterruptedBeforeTheEnd = false
        var hasEnded = false
        for await event in take.events {
            if case .captured = event { hasEnded = true }
            if case .interrupted = event, !hasEnded { isInterruptedBeforeTheEnd = true }
        }
        let outcome = await take.outcome
        #expect(try outcome.result.get().text == "whole")
        #expect(isInterruptedBeforeTheEnd)
        #expect(outcome.account.capturedFrames == samples.count / 2)
        #expect(outcome.attempts.count == 2)
        #expect(!outcome.mayBeDoubled)
        let requests = server.requests
        #expect(requests.map { $0["Utter-Attempt"] } == ["1", "2"])
        #expect(requests.last?.body == samples)
        let keys = requests.map { $0["Idempotency-Key"] }
        #expect(keys[0] != nil && keys[0] == keys[1])
        pipeline.shutDown()
    }

    @Test func afterTheLastAttemptTheTakeIsKeptAndCanBeSent() async throws {
        let silent = try RecordingServer(otherwise: [.readHead, .reset])
        let outcome = await (try start(silent)).outcome
        guard case .failure(.notDelivered) = outcome.result else {
            Issue.record("\(outcome.result)")
            return
        }
        // While the service refuses, the recording may or may not still go on.
        #expect((4...8).contains(outcome.attempts.count))

        let server = try RecordingServer(otherwise: .answer(text: "late"))
        let store = try #require(pipeline.spool).store()
        let plan = DeliveryPlan(service: try RecognitionService(url: ServiceURL(server.url())))
        let kept = try store.find(outcome.id.text)
        // The pipeline lets go of the take's lock when its run is over.
        let again = await (try await resend(kept, plan)).outcome
        #expect(try again.result.get().text == "late")
        #expect(server.requests.first?.body == samples)
        #expect(again.account.sha256 == outcome.account.sha256)
        pipeline.shutDown()
        #expect(try store.find(outcome.id.text).manifest().state == .answered)
    }

    /// Waits for the lock of the run before, which goes with the last reference to it.
    private func resend(_ kept: TakeFolder, _ plan: DeliveryPlan) async throws -> Take {
        let deadline = ContinuousClock.now + .patience
        while true {
            do throws(TakeStoreError) {
                return try pipeline.resend(kept, by: plan)
            } catch {
                guard case .inUse = error, .now < deadline else { throw error }
                await pipeline.settled()
            }
        }
    }

    @Test func twoProcessesNeverSendTheSameTake() async throws {
        let server = try RecordingServer(otherwise: .answer(status: 422, text: "no"))
        let outcome = await (try start(server)).outcome
        pipeline.shutDown()
        let store = try TakeStore(stateFolder: folder.path("state"))
        let first = try store.find(outcome.id.text)
        #expect(try first.lock())
        let second = try Pipeline(
            spool: Spool(at: folder.path("state"), retention: .withoutAnsweredAudio))
        let plan = DeliveryPlan(service: try RecognitionService(url: ServiceURL(server.url())))
        #expect(throws: TakeStoreError.inUse(take: outcome.id.text)) {
            try second.resend(#require(second.spool).store().find(outcome.id.text), by: plan)
        }
        second.shutDown()
        #expect(server.requests.count == 1)
    }
}
