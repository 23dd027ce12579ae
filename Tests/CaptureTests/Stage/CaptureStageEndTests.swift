// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AudioCodecs
@testable import AudioCore
@testable import Capture

@Suite struct CaptureStageEndTests {
    /// A minute of periods of 20 ms, one a turn.
    private static let minute: [CaptureStageScript.Step] = .row(3_000)

    /// What the detector takes for a voice goes on for up to 200 ms behind one.
    @Test(arguments: [
        // Silent from the release on: 150 ms of quiet.
        (0, 2_400...4_800),
        // Silent 100 ms after the release: 150 ms later.
        (1_600, 4_000...6_400),
        // A voice that sounds for 500 ms: its end, and up to 250 ms that a detector takes for voice.
        (8_000, 8_000...12_000),
        // A voice that goes on: 800 ms.
        (60_000, 12_800...12_800),
    ])
    func theTailFollowsTheVoice(spoken: Int, expected: ClosedRange<Int>) throws {
        // "nine three four zero", in 1.2 s and without a pause.
        let voice = try SpokenWords.all[1].frames()[6_400..<25_600]
        // A second of room, one of voice, and so much of it behind the release.
        let source = CaptureStageScript(Self.minute) { place in
            (16_000..<32_000 + spoken).contains(place) ? voice[6_400 + place % voice.count] : 0
        }
        let bench = CaptureStageBench(source, plan: CapturePlan(tail: .speech))
        #expect(bench.stop(after: 100))
        let length = bench.account.capturedFrames - 32_000
        #expect(expected.contains(length), "\(length)")
    }

    @Test(arguments: [(Tail.none, true), (.speech, false)])
    func withoutTailItEndsAtWhatTheDeviceHolds(_ tail: Tail, _ keepsTail: Bool) {
        let source = CaptureStageScript(Self.minute, afterStop: [.frames(100)])
        let bench = CaptureStageBench(source, plan: CapturePlan(tail: tail))
        #expect(bench.stop(after: 10, keepsTail: keepsTail))
        #expect(source.stopWasRequested)
        #expect(bench.end?.cause == .finished)
        #expect(bench.samples == (0..<3_300).map(CaptureStageScript.ramp))
    }

    @Test func aSecondStopWithoutTailEndsTheTail() {
        let source = CaptureStageScript(Self.minute, afterStop: [.frames(100)])
        let bench = CaptureStageBench(source, plan: CapturePlan(tail: .speech))
        bench.turn(10)
        bench.control.requestStop()
        bench.turn(2)
        #expect(!source.stopWasRequested)
        #expect(bench.stop(after: 0, keepsTail: false))
        #expect(bench.account.capturedFrames == 12 * 320 + 100)
    }

    @Test func theTailCountsWhatIsLostInIt() {
        let source = CaptureStageScript(
            [CaptureStageScript.Step].row(10) + [.gap(14_000), .restForEver])
        let bench = CaptureStageBench(source, plan: CapturePlan(tail: .speech))
        bench.turn(10)
        bench.control.requestStop()
        #expect(bench.runToEnd(turns: 10))
        #expect(bench.account.encodedFrames == 3_200 + 14_000)
    }

    @Test func aPipeIsReadNoFurtherThanTheJournalHasWritten() {
        let source = CaptureStageScript(isLive: false, isStored: false, Self.minute)
        let bench = CaptureStageBench(source)
        bench.turn(10)
        #expect(bench.account.capturedFrames == 320)
        guard case .journal = bench.stage.pendingWait else {
            Issue.record("waits for \(String(describing: bench.stage.pendingWait))")
            return
        }
        bench.emptyRing()
        bench.turn(10)
        #expect(bench.account.capturedFrames == 640)
        bench.control.requestStop()
        #expect(bench.runToEnd())
        #expect(bench.samples.count == bench.account.capturedFrames)
    }

    @Test func aFileThatIsStoppedHasNoTail() {
        let source = CaptureStageScript(isLive: false, Self.minute)
        let bench = CaptureStageBench(source, plan: CapturePlan(tail: .speech))
        #expect(bench.stop(after: 10))
        #expect(bench.account.capturedFrames == 3_200)
    }

    @Test func aStopThatComesBeforeTheOpeningStillRecordsTheTail() {
        let source = CaptureStageScript(Self.minute) { _ in 0 }
        let bench = CaptureStageBench(source, plan: CapturePlan(tail: .speech))
        #expect(bench.stop(after: 0))
        #expect(bench.account.capturedFrames == 2_560)
    }

    @Test(arguments: [
        (16_000, 1), (16_000, 319), (16_000, 320), (16_000, 321), (16_000, 12_345),
        (44_100, 5_001), (48_000, 5_001),
    ])
    func theLongestAllowedLengthIsKeptToTheFrame(rate: Int, limit: Int) {
        let source = CaptureStageScript(Self.minute, rate: rate)
        let bench = CaptureStageBench(source, plan: Self.plan(limit))
        #expect(bench.runToEnd())
        #expect(bench.end?.cause == .limitReached)
        #expect(bench.account.capturedFrames == limit)
        #expect(bench.samples.count == limit)
        #expect(rate != 16_000 || bench.samples == (0..<limit).map(CaptureStageScript.ramp))
        #expect(source.isClosed)
    }

    private static func plan(_ limit: Int) -> CapturePlan {
        var plan = CapturePlan(tail: .none)
        plan.longestFrames = limit
        return plan
    }

    @Test func aGapCountsTowardsTheLongestAllowedLength() {
        let bench = CaptureStageBench(
            CaptureStageScript([.frames(900), .gap(500), .frames(320), .restForEver]),
            plan: Self.plan(1_000))
        #expect(bench.runToEnd())
        #expect(bench.end?.cause == .limitReached)
        #expect(bench.account.encodedFrames == 1_000)
        #expect(bench.end?.gaps == [Gap(cause: .overrun, start: 900, frames: 100)])
    }

    @Test func cancellingEndsTheTakeInTheNextTurn() {
        let source = CaptureStageScript(Self.minute)
        let bench = CaptureStageBench(source)
        bench.turn(10)
        bench.control.requestCancel()
        bench.stage.turn(now: .now - .seconds(10))
        #expect(bench.end?.cause == .cancelled)
        #expect(bench.ringIsFinished)
        #expect(bench.stage.didWrite)
        #expect(source.isClosed)
        bench.emptyRing()
        #expect(bench.samples == (0..<3_200).map(CaptureStageScript.ramp))
    }

    @Test func cancellingDoesNotWaitForAJournalThatStalls() {
        for source in [
            CaptureStageScript(Self.minute), CaptureStageScript(isLive: false, Self.minute),
            CaptureStageScript([.frames(320), .gap(100_000)]),
        ] {
            let bench = CaptureStageBench(source, ringByteCount: 8_192)
            bench.turn(100)
            #expect(bench.stage.pendingWait != nil)
            bench.control.requestCancel()
            bench.turn()
            #expect(bench.end?.cause == .cancelled)
            #expect(bench.ringIsFinished)
        }
    }

    @Test func anEncoderThatBreaksEndsTheTakeWithWhatItGave() {
        let source = CaptureStageScript(Self.minute)
        let bench = CaptureStageBench(source, encoder: BreakingEncoder(after: 3_200))
        #expect(bench.runToEnd())
        #expect(bench.end?.cause == .encoder(BreakingEncoder.error))
        #expect(bench.bytes.count == 44 + 6_400)
        #expect(source.isClosed)
    }
}

/// A WAV encoder that fails after some frames.
private final class BreakingEncoder: AudioEncoder {
    static let error = EncodingError.codecFailed(operation: "test", reason: "as planned")

    private let encoder = WAVEncoder()
    private var left: Int

    init(after frames: Int) { left = frames }

    func begin(into output: inout [UInt8]) throws(EncodingError) {
        try encoder.begin(into: &output)
    }

    func encode(_ frames: Span<Int16>, into output: inout [UInt8]) throws(EncodingError) {
        left -= frames.count
        guard left >= 0 else { throw Self.error }
        try encoder.encode(frames, into: &output)
    }

    func finish(into output: inout [UInt8]) throws(EncodingError) { throw Self.error }

    func maximumByteCount(forFrames frames: Int) -> Int {
        encoder.maximumByteCount(forFrames: frames)
    }
}
