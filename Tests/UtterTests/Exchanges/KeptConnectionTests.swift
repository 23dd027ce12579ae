// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter

/// Takes that go over a connection which an earlier take has left.
@Suite struct KeptConnectionTests {
    private static let lost = TransferResult.Ending.connectionLost("closed")

    /// Sends a recording that is complete before it is sent, over a scripted transport.
    private func outcome(
        _ script: [ScriptedTransport.Ending], onUnknown: UnknownOutcome = .resend
    ) async throws -> (outcome: TakeOutcome, made: [ScriptedTransport.Made]) {
        let folder = try TemporaryFolder()
        let transport = ScriptedTransport(script)
        let pipeline = try Pipeline(spool: nil) { _ in transport }
        defer { pipeline.shutDown() }
        let path = try folder.write(
            WAVBytes.speech([Int16](repeating: 1, count: 320)), to: "take.wav")
        var policy = FaultBench.quick
        policy.unknownOutcome = onUnknown
        let service = try RecognitionService(url: ServiceURL("https://speech.example/"))
        var plan = TakePlan(
            source: FileReplay(path: path, pace: .unpaced),
            delivery: DeliveryPlan(service: service, retry: policy))
        plan.isCompleteSoon = true
        let outcome = await pipeline.start(plan).outcome
        return (outcome, transport.made)
    }

    @Test func aTakeThatIsCompleteMayGoOverOneAndLeavesIts() async throws {
        let (outcome, made) = try await outcome([.answered("heard")])
        #expect(try outcome.result.get().text == "heard")
        #expect(made.map(\.request.longestIdleTime) == [.seconds(4)])
        #expect(made.map(\.request.leavesConnection) == [true])
    }

    /// The service cannot have the take: it costs no pause, no try and no word.
    @Test func whatDiesBeforeTheTakeWasSentIsSentAtOnceOverANewOne() async throws {
        let dead = TransferResult.test(Self.lost, isBodyComplete: false, hasReusedConnection: true)
        let (outcome, made) = try await outcome([.init(result: dead), .answered("heard")])
        #expect(try outcome.result.get().text == "heard")
        #expect(made.map(\.pause) == [.zero, .zero])
        #expect(made.map(\.request.longestIdleTime) == [.seconds(4), nil])
        #expect(!outcome.mayBeDoubled)
        #expect(outcome.takenCount == 1)
    }

    @Test func whatDiesAfterwardsIsUnknownAndSaid() async throws {
        let dead = TransferResult.test(Self.lost, hasReusedConnection: true)
        let (outcome, made) = try await outcome([.init(result: dead), .answered("heard")])
        #expect(try outcome.result.get().text == "heard")
        #expect(made.count == 2)
        #expect(try #require(made.last).pause > .zero)
        #expect(made.last?.request.longestIdleTime == nil)
        #expect(outcome.mayBeDoubled)
    }

    @Test func whatIsUnknownIsKeptWhenThePersonSaysSo() async throws {
        let dead = TransferResult.test(Self.lost, hasReusedConnection: true)
        let (outcome, made) = try await outcome([.init(result: dead)], onUnknown: .keep)
        #expect(made.count == 1)
        #expect(throws: TakeFailure.self) { try outcome.result.get() }
        #expect(outcome.takenCount == 1)
    }

    @Test func aConnectionOfItsOwnThatDiesIsAFailure() async throws {
        let dead = TransferResult.test(Self.lost, isBodyComplete: false)
        let (_, made) = try await outcome([.init(result: dead), .answered("heard")])
        #expect(try #require(made.last).pause > .zero)
    }

    @Test func whatIsStillBeingRecordedHasItsOwnConnection() async throws {
        let bench = try FaultBench(byteCount: 16_000)
        for _ in 0..<3 {
            let outcome = await bench.start(
                try bench.plan(to: bench.server.url()), pace: .realTime
            ).outcome
            #expect(bench.complaint(outcome) == nil)
        }
        #expect(bench.server.connectionCount == 3)
    }

    /// A service that closes connections at the worst moments, between takes that it answers.
    @Test func nothingIsLostOrDoubledOverConnectionsThatDie() async throws {
        let bench = try FaultBench(byteCount: 64_000)
        let answer = bench.ledger.script
        let committed: [ServerStep] = [
            .readHead, .readBodyToEnd, .perform { _ = bench.ledger.answer($0) },
        ]
        let deaths: [[ServerStep]] = [
            [.readHead, .close], [.readHead, .reset], [.readHead, .readBody(bytes: 1), .reset],
            [.readHead, .readBodyToEnd, .close], committed + [.close], committed + [.reset],
        ]
        let server = try RecordingServer(
            scripts: deaths.flatMap { [answer, $0, answer] }, otherwise: answer)
        var outcomes: [TakeOutcome] = []
        for _ in 0..<12 {
            var plan = TakePlan(
                source: bench.source(pace: .unpaced), delivery: try bench.plan(to: server.url()))
            plan.isCompleteSoon = true
            outcomes.append(await bench.pipeline.start(plan).outcome)
        }
        for outcome in outcomes { #expect(bench.complaint(outcome) == nil) }
        #expect(bench.ledger.entries.count == outcomes.count)
        // Each body that came whole belongs to an attempt of ours that says so.
        let whole = server.requests.filter(\.isComplete).count
        let logged = outcomes.flatMap(\.attempts).filter(\.result.isBodyComplete).count
        #expect(whole <= logged)
    }
}
