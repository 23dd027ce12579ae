// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore
@testable import Capture

@Suite struct CaptureStageGapTests {
    /// What a take must hold: the ramp, with zeros where the gaps are.
    private func timeline(_ count: Int, _ gaps: [Gap]) -> [Int16] {
        var expected = (0..<count).map(CaptureStageScript.ramp)
        for gap in gaps {
            for place in gap.start..<gap.start + gap.frames { expected[place] = 0 }
        }
        return expected
    }

    /// Losses that follow each other are one gap.
    @Test func anOverrunBecomesSilenceOfTheSameLengthAtItsPlace() {
        let bench = CaptureStageBench(
            CaptureStageScript([
                .frames(320), .gap(1), .frames(320), .rest, .gap(2_000), .rest, .gap(3_000),
                .frames(7), .gap(3),
            ]))
        #expect(bench.runToEnd())
        let gaps = [
            Gap(cause: .overrun, start: 320, frames: 1),
            Gap(cause: .overrun, start: 641, frames: 5_000),
            Gap(cause: .overrun, start: 5_648, frames: 3),
        ]
        #expect(bench.end?.gaps == gaps)
        #expect(bench.samples == timeline(5_651, gaps))
        #expect(bench.account.capturedFrames == 647)
        #expect(bench.account.gapFrames == 5_004)
        #expect(bench.account.encodedFrames == 5_651)
    }

    @Test func theLastOfAThousandGapsStandsForAllThatFollow() {
        let bench = CaptureStageBench(
            CaptureStageScript(.row(1_500, of: [.frames(1), .gap(1)])))
        #expect(bench.runToEnd())
        #expect(bench.end?.gaps.count == 1_000)
        #expect(bench.end?.gaps.last == Gap(cause: .overrun, start: 1_999, frames: 501))
        #expect(bench.account.encodedFrames == 3_000)
    }

    @Test func manySmallLossesAtAnotherRateAddUp() {
        let bench = CaptureStageBench(
            CaptureStageScript(.row(24_000, of: [.gap(1), .frames(1)]), rate: 48_000))
        #expect(bench.runToEnd())
        #expect(bench.account.capturedFrames == 8_000)
        #expect(bench.account.gapFrames == 8_000)
        #expect(bench.account.encodedFrames == 16_000)
    }

    @Test func aFullRingRefusesWholeReadsOfALiveSource() {
        let bench = CaptureStageBench(CaptureStageScript(.row(100)), ringByteCount: 8_192)
        // 44 bytes of header and twelve periods of 640 bytes fit into 8,192.
        bench.turn(40)
        #expect(bench.account.capturedFrames == 12 * 320)
        #expect(bench.account.gapFrames == 28 * 320)
        #expect(bench.account.encodedFrames == 12 * 320)
        #expect(bench.runToEnd())
        let gaps = bench.end?.gaps ?? []
        #expect(gaps.first?.start == 12 * 320)
        #expect(gaps.allSatisfy { $0.cause == .ringFull && $0.frames % 320 == 0 })
        #expect(bench.samples == timeline(32_000, gaps))
        #expect(bench.account.capturedFrames + bench.account.gapFrames == 32_000)
        #expect(bench.account.encodedFrames == 32_000)
        #expect(gaps.reduce(0) { $0 + $1.frames } == bench.account.gapFrames)
    }

    @Test func aJournalThatStallsAgainAndAgainLeavesTheTimelineTrue() {
        var random = SeededRandom()
        let seed = random.seed
        for _ in 0..<20 {
            var steps: [CaptureStageScript.Step] = []
            var length = 0
            for _ in 0..<300 {
                let count = Int.random(in: 1...700, using: &random)
                length += count
                let isGap = Int.random(in: 0..<10, using: &random) == 0
                steps.append(isGap ? .gap(count) : .frames(count))
                if Bool.random(using: &random) { steps.append(.rest) }
            }
            let bench = CaptureStageBench(CaptureStageScript(steps), ringByteCount: 8_192)
            for _ in 0..<5_000 where bench.stage.pendingWait != nil {
                bench.turn()
                if Int.random(in: 0..<8, using: &random) == 0 { bench.emptyRing() }
            }
            bench.emptyRing()
            let gaps = bench.end?.gaps ?? []
            #expect(bench.end?.cause == .finished, "seed \(seed)")
            #expect(bench.samples == timeline(length, gaps), "seed \(seed)")
            let account = bench.account
            #expect(account.capturedFrames + account.gapFrames == length, "seed \(seed)")
            #expect(account.encodedFrames == length, "seed \(seed)")
        }
    }

    @Test(arguments: [true, false])
    func aHoleOfAFileIsLongerThanTheRingAndCostsNothingElse(isStored: Bool) {
        let bench = CaptureStageBench(
            CaptureStageScript(
                isLive: false, isStored: isStored, [.frames(640), .gap(50_000), .frames(9_000)]),
            ringByteCount: 16_384)
        #expect(bench.runToEnd())
        let gap = Gap(cause: .damaged, start: 640, frames: 50_000)
        #expect(bench.end?.gaps == [gap])
        #expect(bench.samples == timeline(59_640, [gap]))
        #expect(bench.account.capturedFrames == 9_640 && bench.account.gapFrames == 50_000)
    }

    @Test func silenceThatIsOwedAtTheEndWaitsForTheJournal() {
        let bench = CaptureStageBench(
            CaptureStageScript([.frames(320), .gap(10_000)]), ringByteCount: 8_192)
        bench.turn(10)
        #expect(bench.end == nil)
        #expect(!bench.ringIsFinished)
        #expect(bench.runToEnd())
        #expect(bench.account.encodedFrames == 10_320)
        #expect(bench.samples.count == 10_320)
    }

    @Test func aFileWaitsForTheJournalAndLosesNothing() throws {
        for (encoder, ringByteCount) in [
            (WAVEncoder() as any AudioEncoder, 8_192), (try OggOpusEncoder(), 32_768),
        ] {
            let bench = CaptureStageBench(
                CaptureStageScript(isLive: false, [.frames(400_000)]), encoder: encoder,
                ringByteCount: ringByteCount)
            bench.turn(10)
            #expect(bench.stage.pendingWait != nil)
            #expect(bench.runToEnd())
            #expect(bench.account.capturedFrames == 400_000)
            #expect(bench.account.encodedFrames == 400_000)
            #expect(bench.account.gapFrames == 0)
            #expect(bench.account.encodedBytes == bench.bytes.count)
        }
    }
}
