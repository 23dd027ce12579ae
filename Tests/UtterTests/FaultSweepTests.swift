// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter

/// Faults at every place of the exchange; each take must arrive, byte for byte, and say how often.
@Suite struct FaultSweepTests {
    /// How many takes are under way at once.
    private static let width = 8

    /// Sends a take through each of the plans, and says what went wrong.
    private func sweep(
        _ plans: [LinkPlan], _ bench: FaultBench, lostAnswers: Int? = nil,
        deadlines: TransferDeadlines = TransferDeadlines()
    ) async throws -> [String] {
        try await inLanes(Self.width, plans) { plan in
            let proxy = try FaultProxy(to: bench.server.port, plans: [plan])
            let delivery = try bench.plan(proxy, deadlines: deadlines)
            let outcome = await bench.start(delivery).outcome
            let complaint = bench.complaint(outcome, afterLostAnswers: lostAnswers)
            withExtendedLifetime(proxy) {}
            return complaint.map { ["\(plan.faults): \($0)"] } ?? []
        }
    }

    /// The offsets of the request: its head and the first chunk's framing byte by byte in steps,
    /// then its body.
    private static let requestOffsets =
        Array(stride(from: 0, to: 480, by: 13)) + [600, 1_500, 7_000, 15_999, 16_200]

    @Test(arguments: [LinkFault.Kind.reset, .finish, .halfClose])
    func aRequestThatBreaksAnywhereArrives(_ kind: LinkFault.Kind) async throws {
        let bench = try FaultBench()
        let complaints = try await sweep(
            Self.requestOffsets.map { LinkPlan(LinkFault(kind, .toService, at: $0)) }, bench)
        #expect(complaints.isEmpty)
    }

    /// An answer of 90 bytes or so; one that breaks behind its last byte is whole.
    @Test(arguments: [LinkFault.Kind.reset, .finish])
    func anAnswerThatBreaksAnywhereIsAskedForAgain(_ kind: LinkFault.Kind) async throws {
        let bench = try FaultBench()
        let complaints = try await sweep(
            stride(from: 0, to: 56, by: 3).map {
                LinkPlan(LinkFault(kind, .toClient, at: $0))
            }, bench, lostAnswers: 1)
        #expect(complaints.isEmpty)
    }

    @Test(arguments: LinkFault.Direction.allCases)
    func whatStandsStillIsGivenUpAndSentAgain(_ direction: LinkFault.Direction) async throws {
        let bench = try FaultBench(byteCount: 400_000)
        let offsets = direction == .toService ? [0, 100, 500, 60_000] : [0, 10, 50]
        let complaints = try await sweep(
            offsets.map { LinkPlan(LinkFault(.blackHole, direction, at: $0)) }, bench,
            deadlines: TransferDeadlines(
                connect: .seconds(10), stall: .seconds(3), answer: .seconds(5)))
        #expect(complaints.isEmpty)
    }

    @Test func aShortStallIsWaitedFor() async throws {
        let bench = try FaultBench()
        let proxy = try FaultProxy(
            to: bench.server.port,
            plans: [
                LinkPlan(
                    LinkFault(.stall(.seconds(3)), .toService, at: 2_000),
                    LinkFault(.stall(.milliseconds(500)), .toClient, at: 20))
            ])
        let outcome = await bench.start(try bench.plan(proxy)).outcome
        #expect(bench.complaint(outcome) == nil)
        #expect(outcome.attempts.count == 1)
    }

    @Test func aLinkThatIsSlowerThanTheVoiceDeliversAllOfIt() async throws {
        let bench = try FaultBench(byteCount: 64_000)
        let proxy = try FaultProxy(
            to: bench.server.port, plans: [LinkPlan(bytesPerSecond: 24_000)])
        let outcome = await bench.start(try bench.plan(proxy), pace: .realTime).outcome
        #expect(bench.complaint(outcome) == nil)
        #expect(outcome.attempts.count == 1)
    }

    @Test func aConnectionThatLeadsNowhereForAWhileIsWaitedFor() async throws {
        let bench = try FaultBench()
        let proxy = try FaultProxy(
            to: bench.server.port, plans: [LinkPlan(delay: .seconds(1))])
        let outcome = await bench.start(try bench.plan(proxy)).outcome
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
        let bench = try FaultBench()
        let kinds: [LinkFault.Kind] = [.reset, .finish, .halfClose]
        let plans = (0..<64).map { _ in
            let direction = LinkFault.Direction.allCases.randomElement(using: &random) ?? .toClient
            let limit = direction == .toService ? 17_000 : 100
            return LinkPlan(
                LinkFault(
                    kinds.randomElement(using: &random) ?? .reset, direction,
                    at: .random(in: 0..<limit, using: &random)))
        }
        let complaints = try await sweep(plans, bench)
        #expect(complaints.isEmpty, "seed \(random.seed)")
    }
}
