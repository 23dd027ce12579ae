// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import TakeStore
@testable import Utter

/// Faults at every place of the exchange; each take must arrive, byte for byte, and say how often.
@Suite struct FaultSweepTests {
    /// Sends a take through each of the plans, eight at once, and looks whether all arrive.
    private func sweep(
        _ plans: [LinkPlan], byteCount: Int = 16_000, lostAnswers: Int? = nil,
        deadlines: TransferDeadlines = TransferDeadlines(), _ comment: Comment? = nil
    ) async throws {
        let bench = try FaultBench(byteCount: byteCount)
        let complaints = try await inLanes(8, plans) { plan in
            let proxy = try FaultProxy(to: bench.server.port, plans: [plan])
            let delivery = try bench.plan(proxy, deadlines: deadlines)
            let outcome = await bench.start(delivery).outcome
            let complaint = bench.complaint(outcome, afterLostAnswers: lostAnswers)
            withExtendedLifetime(proxy) {}
            return complaint.map { ["\(plan.faults): \($0)"] } ?? []
        }
        report(harms: plans.count, "link faults", lost: complaints.count)
        #expect(complaints.isEmpty, comment)
    }

    /// The head and the framing of the first chunk break byte by byte in steps, then the body.
    @Test(arguments: [LinkFault.Kind.reset, .finish, .halfClose])
    func aRequestThatBreaksAnywhereArrives(_ kind: LinkFault.Kind) async throws {
        let offsets = Array(stride(from: 0, to: 480, by: 13)) + [600, 1_500, 7_000, 15_999, 16_200]
        try await sweep(offsets.map { LinkPlan(LinkFault(kind, .toService, at: $0)) })
    }

    /// An answer of 90 bytes or so; one that breaks behind its last byte is whole.
    @Test(arguments: [LinkFault.Kind.reset, .finish])
    func anAnswerThatBreaksAnywhereIsAskedForAgain(_ kind: LinkFault.Kind) async throws {
        let offsets = Array(stride(from: 0, to: 56, by: 3))
        try await sweep(
            offsets.map { LinkPlan(LinkFault(kind, .toClient, at: $0)) }, lostAnswers: 1)
    }

    @Test(arguments: LinkFault.Direction.allCases)
    func whatStandsStillIsGivenUpAndSentAgain(_ direction: LinkFault.Direction) async throws {
        let offsets = direction == .toService ? [0, 100, 500, 60_000] : [0, 10, 50]
        try await sweep(
            offsets.map { LinkPlan(LinkFault(.blackHole, direction, at: $0)) },
            byteCount: 400_000,
            deadlines: TransferDeadlines(
                connect: .seconds(10), stall: .seconds(3), answer: .seconds(5)))
    }

    @Test(
        arguments: [
            // Stalls that are shorter than the deadlines.
            (
                LinkPlan(
                    LinkFault(.stall(.seconds(3)), .toService, at: 2_000),
                    LinkFault(.stall(.milliseconds(500)), .toClient, at: 20)), 16_000, .unpaced
            ),
            // A link that is slower than the voice.
            (LinkPlan(bytesPerSecond: 24_000), 64_000, .realTime),
            // A connection that leads nowhere for a while.
            (LinkPlan(delay: .seconds(1)), 16_000, .unpaced),
        ] as [(LinkPlan, Int, Pace)])
    func whatIsSlowIsWaitedFor(_ plan: LinkPlan, byteCount: Int, pace: Pace) async throws {
        let bench = try FaultBench(byteCount: byteCount)
        let proxy = try FaultProxy(to: bench.server.port, plans: [plan])
        let outcome = await bench.start(try bench.plan(proxy), pace: pace).outcome
        #expect(bench.complaint(outcome) == nil)
        #expect(outcome.attempts.count == 1)
    }

    @Test func aServiceThatRefusesConnectionsForAWhileGetsTheTake() async throws {
        let bench = try FaultBench()
        let proxy = try FaultProxy(to: bench.server.port)
        await proxy.cut()
        // Two quick tries; then only the end of the recording ends the pause.
        var retry = FaultBench.quick
        retry.pausesWhileSpeaking = [.milliseconds(10), .seconds(3_600)]
        let speaker = try Speaker()
        let take = bench.start(try bench.plan(proxy, retry: retry), from: speaker)
        var refusals = 0
        for await event in take.events {
            guard case .interrupted = event else { continue }
            refusals += 1
            guard refusals == 2 else { continue }
            await proxy.mend()
            speaker.fallSilent()
        }
        let outcome = await take.outcome
        #expect(bench.complaint(outcome) == nil)
        #expect(outcome.attempts.count == 3)
        #expect(refusals == 2)
        #expect(proxy.connectionCount == 1)
    }

    @Test func faultsAtRandomPlacesInARowAreSurvived() async throws {
        var random = SeededRandom()
        let kinds: [LinkFault.Kind] = [.reset, .finish, .halfClose]
        let plans = (0..<64).map { _ in
            let direction = LinkFault.Direction.allCases.randomElement(using: &random) ?? .toClient
            let limit = direction == .toService ? 17_000 : 100
            return LinkPlan(
                LinkFault(
                    kinds.randomElement(using: &random) ?? .reset, direction,
                    at: .random(in: 0..<limit, using: &random)))
        }
        try await sweep(plans, "seed \(random.seed)")
    }
}

/// A link that is gone for a while, in the middle of a take and at its end.
@Suite struct LinkCutTests {
    /// Records half a minute whose link is cut for 5 s at some of its seconds.
    private func run(cuts: [Double]) async throws -> TakeOutcome {
        let seconds = 30
        let bench = try FaultBench(byteCount: seconds * 32_000)
        let proxy = try FaultProxy(to: bench.server.port)
        let take = bench.start(try bench.plan(proxy, retry: .standard), pace: .realTime)
        let watcher = Task {
            var left = cuts[...]
            for await event in take.events {
                guard case .progress(let progress) = event, let next = left.first,
                    progress.elapsed >= .seconds(next)
                else { continue }
                left.removeFirst()
                await proxy.cut()
                Task {
                    _ = await Gate().wait(within: .seconds(5))
                    await proxy.mend()
                }
            }
        }
        let outcome = await take.outcome
        _ = await watcher.value
        #expect(bench.complaint(outcome) == nil)
        #expect(outcome.account.capturedFrames == seconds * 16_000)
        #expect(outcome.account.gapFrames == 0)
        #expect(!outcome.mayBeDoubled)
        #expect(outcome.attempts.count > cuts.count)
        return outcome
    }

    @Test func aTakeThroughALinkThatIsCutTwiceArrivesWhole() async throws {
        let bench = try FaultBench(byteCount: 96_000)
        let proxy = try FaultProxy(to: bench.server.port)
        var retry = FaultBench.quick
        // Long enough for the link to come back on a busy machine: only eight attempts are made in a
        // minute.
        retry.pausesWhileSpeaking = [.seconds(4)]
        let speaker = try Speaker()
        let take = bench.pipeline.start(
            TakePlan(source: speaker.source, delivery: try bench.plan(proxy, retry: retry)))
        let log = EventLog(take)
        for part in 0..<3 {
            speaker.say(Array(bench.noise[(part * 16_000)..<((part + 1) * 16_000)]))
            // The connection of this part brings all that was said before it, too.
            let count = (part + 1) * 32_000
            #expect(await bench.server.wait(untilBytes: count, ofRequest: part) != nil)
            guard part < 2 else { break }
            await proxy.cut()
            #expect(await log.wait(untilInterrupted: part + 1))
            await proxy.mend()
        }
        speaker.fallSilent()
        let outcome = await take.outcome
        #expect(bench.complaint(outcome) == nil)
        #expect(outcome.account.gapFrames == 0)
        #expect(!outcome.mayBeDoubled)
    }

    @Test(.enabled(if: getenv("UTTER_SOAK") != nil, "takes two minutes"))
    func halfAMinuteThroughTwoCutsOfFiveSecondsArrivesWholeAndInTime() async throws {
        let whole = try await run(cuts: [])
        for cuts in [[5.0, 15.0], [3, 20], [10, 24.8]] {
            let cut = try await run(cuts: cuts)
            let delays = (try #require(cut.answerDelay), try #require(whole.answerDelay))
            print("cuts at \(cuts): transcript after \(delays.0) instead of \(delays.1)")
            #expect(delays.0 - delays.1 < .seconds(2))
        }
    }
}

/// A take whose transfer fails is sent again from its first byte, by our decision and numbered.
@Suite struct ResendTests {
    private let bench: FaultBench

    init() throws { bench = try FaultBench() }

    @Test func afterTheLastAttemptTheTakeIsKeptAndCanBeSent() async throws {
        let silent = try RecordingServer(otherwise: [.readHead, .reset])
        let outcome = await bench.start(try bench.plan(to: silent.url())).outcome
        let isUndelivered =
            if case .failure(.notDelivered) = outcome.result { true } else { false }
        #expect(isUndelivered, "\(outcome.result)")
        // While the service refuses, the recording may or may not still go on.
        #expect((4...8).contains(outcome.attempts.count))

        let server = try RecordingServer(otherwise: .answer(text: "late"))
        let again = try await bench.resend(outcome, by: bench.plan(to: server.url()))
        #expect(try again.result.get().text == "late")
        #expect(server.requests.first?.body == bench.samples)
        #expect(again.account.sha256 == outcome.account.sha256)
        bench.pipeline.shutDown()
        let kept = try #require(bench.pipeline.spool).store().find(outcome.id.text)
        #expect(try kept.manifest().state == .answered)
    }

    @Test func twoProcessesNeverSendTheSameTake() async throws {
        let server = try RecordingServer(otherwise: .answer(status: 422, text: "no"))
        let plan = try bench.plan(to: server.url())
        let outcome = await bench.start(plan).outcome
        bench.pipeline.shutDown()
        let store = try TakeStore(stateFolder: bench.folder.path("state"))
        let first = try store.find(outcome.id.text)
        #expect(try first.lock())
        let second = try Pipeline(
            spool: Spool(at: bench.folder.path("state"), retention: .withoutAnsweredAudio))
        #expect(throws: TakeStoreError.inUse(take: outcome.id.text)) {
            try second.resend(#require(second.spool).store().find(outcome.id.text), by: plan)
        }
        second.shutDown()
        #expect(server.requests.count == 1)
    }
}
