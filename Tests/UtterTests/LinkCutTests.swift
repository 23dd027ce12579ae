// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Utter

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

    @Test func aLinkThatComesBackJustBeforeTheEndIsUsed() async throws {
        let bench = try FaultBench(byteCount: 64_000)
        let proxy = try FaultProxy(to: bench.server.port)
        var retry = FaultBench.quick
        retry.pausesWhileSpeaking = [.ages]
        let speaker = try Speaker()
        let take = bench.pipeline.start(
            TakePlan(source: speaker.source, delivery: try bench.plan(proxy, retry: retry)))
        let log = EventLog(take)
        speaker.say(Array(bench.noise[..<16_000]))
        #expect(await bench.server.wait(untilBytes: 32_000) != nil)
        await proxy.cut()
        #expect(await log.wait(untilInterrupted: 1))
        await proxy.mend()
        speaker.say(Array(bench.noise[16_000...]))
        speaker.fallSilent()
        // The pause of a day ends with the recording.
        let outcome = await take.outcome
        #expect(bench.complaint(outcome) == nil)
        #expect(outcome.attempts.count == 2)
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
