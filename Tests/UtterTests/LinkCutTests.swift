// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Utter

/// A link that is gone for a while, in the middle of a take and at its end.
@Suite struct LinkCutTests {
    /// What a take through a link came to, and how long its transcript took.
    private struct Run {
        var outcome: TakeOutcome
        var delay: Duration
        var complaint: String?
    }

    /// Records a take whose link is cut at some of its seconds, for `length` each.
    ///
    /// With `scale` 2 everything goes twice as fast as it would be spoken.
    private func run(
        seconds: Int, cuts: [Double], length: Double, scale: Double
    ) async throws -> Run {
        let bench = try FaultBench(byteCount: seconds * 32_000)
        let proxy = try FaultProxy(to: bench.server.port)
        var retry = RetryPolicy.standard
        retry.pausesWhileSpeaking = retry.pausesWhileSpeaking.map { $0 / scale }
        let take = bench.start(
            try bench.plan(proxy, retry: retry), pace: scale == 1 ? .realTime : .times(scale))
        let watcher = Task {
            var left = cuts[...]
            for await event in take.events {
                guard case .progress(let progress) = event, let next = left.first,
                    progress.elapsed >= .seconds(next)
                else { continue }
                left.removeFirst()
                await proxy.cut()
                Task {
                    _ = await Gate().wait(within: .seconds(length / scale))
                    await proxy.mend()
                }
            }
        }
        let outcome = await take.outcome
        _ = await watcher.value
        return Run(
            outcome: outcome, delay: outcome.answerDelay ?? .seconds(999),
            complaint: bench.complaint(outcome))
    }

    private func check(seconds: Int, cuts: [Double], length: Double, scale: Double) async throws {
        let whole = try await run(seconds: seconds, cuts: [], length: 0, scale: scale)
        let cut = try await run(seconds: seconds, cuts: cuts, length: length, scale: scale)
        #expect(whole.complaint == nil)
        #expect(cut.complaint == nil)
        #expect(cut.outcome.account.capturedFrames == seconds * 16_000)
        #expect(cut.outcome.account.gapFrames == 0)
        #expect(!cut.outcome.mayBeDoubled)
        #expect(cut.outcome.attempts.count > cuts.count)
        #expect(cut.delay - whole.delay < .seconds(2), "\(cut.delay), not \(whole.delay)")
        print(
            "cuts at \(cuts): \(cut.outcome.attempts.count) attempts, transcript after "
                + "\(cut.delay) instead of \(whole.delay)")
    }

    @Test func aTakeThroughALinkThatIsCutTwiceArrivesWholeAndInTime() async throws {
        try await check(seconds: 12, cuts: [2, 7], length: 2, scale: 2)
    }

    @Test func aLinkThatComesBackJustBeforeTheEndIsUsedAtOnce() async throws {
        try await check(seconds: 8, cuts: [5], length: 2.5, scale: 2)
    }

    @Test(.enabled(if: getenv("UTTER_SOAK") != nil, "takes two minutes"))
    func halfAMinuteThroughTwoCutsOfFiveSecondsArrivesWholeAndInTime() async throws {
        for cuts in [[5.0, 15.0], [3, 20], [10, 24.8]] {
            try await check(seconds: 30, cuts: cuts, length: 5, scale: 1)
        }
    }
}
