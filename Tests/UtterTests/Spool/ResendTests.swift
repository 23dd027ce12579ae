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

    private func start(
        _ server: RecordingServer, pace: Pace = .unpaced, retry: RetryPolicy = quick
    ) throws -> Take {
        try start(server.url(), pace: pace, retry: retry)
    }

    private func start(_ url: String, pace: Pace, retry: RetryPolicy) throws -> Take {
        pipeline.start(
            TakePlan(
                source: FileReplay(path: Clip.goForward.path, pace: pace),
                service: try RecognitionService(url: ServiceURL(url)), retry: retry))
    }

    private func number(_ request: RecordedRequest) -> String? {
        request.headers.first { $0.name.lowercased() == "utter-attempt" }?.value
    }

    private func key(_ request: RecordedRequest) -> String? {
        request.headers.first { $0.name.lowercased() == "idempotency-key" }?.value
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
        #expect(requests.map(number) == ["1", "2"])
        #expect(requests.last?.body == samples)
        #expect(requests.first.flatMap(key) != nil)
        #expect(requests.first.flatMap(key) == requests.last.flatMap(key))
        pipeline.shutDown()
    }

    @Test func aBusyServiceIsAskedAgain() async throws {
        let busy = [ServerStep].answer(status: 503, text: "busy")
        let server = try RecordingServer(scripts: [busy, busy, .answer(text: "at last")])
        let outcome = await (try start(server)).outcome
        #expect(try outcome.result.get().text == "at last")
        #expect(server.requests.map(number) == ["1", "2", "3"])
        #expect(server.requests.allSatisfy { $0.body == samples })
        pipeline.shutDown()
    }

    @Test(arguments: [400, 401, 403, 404, 409, 413, 415, 422, 501])
    func whatTheServiceRefusesIsNotSentAgain(status: Int) async throws {
        let server = try RecordingServer(otherwise: .answer(status: status, text: "no"))
        let outcome = await (try start(server)).outcome
        #expect(throws: TakeFailure.self) { try outcome.result.get() }
        #expect(server.requests.count == 1)
        pipeline.shutDown()
    }

    @Test func retryAfterIsWaitedFor() async throws {
        let busy: [ServerStep] = [
            .readHead, .readBodyToEnd,
            .respond(status: 429, headers: [HeaderField("Retry-After", "1")], text: "slow down"),
        ]
        let server = try RecordingServer(scripts: [busy, .answer(text: "later")])
        let outcome = await (try start(server)).outcome
        #expect(try outcome.result.get().text == "later")
        let requests = server.requests
        let answered = try #require(requests.first?.sentAt.last)
        let again = try #require(requests.last?.beganAt)
        #expect(again.nanoseconds - answered.nanoseconds >= 1_000_000_000)
        pipeline.shutDown()
    }

    @Test func anUnknownOutcomeIsSentAgainAndSaid() async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .readBodyToEnd, .close], .answer(text: "twice")])
        let outcome = await (try start(server)).outcome
        #expect(try outcome.result.get().text == "twice")
        #expect(outcome.mayBeDoubled)
        #expect(server.requests.map(\.body) == [samples, samples])
        pipeline.shutDown()
    }

    @Test func anUnknownOutcomeIsKeptWhenThatIsWanted() async throws {
        let server = try RecordingServer(otherwise: [.readHead, .readBodyToEnd, .close])
        var policy = Self.quick
        policy.unknownOutcome = .keep
        let outcome = await (try start(server, retry: policy)).outcome
        #expect(throws: TakeFailure.self) { try outcome.result.get() }
        #expect(server.requests.count == 1)
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
