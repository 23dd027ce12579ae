// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Capture

/// A source whose opening takes long, or for ever.
@Suite struct CaptureStageOpeningTests {
    private let start = ContinuousClock.now

    private func bench(
        isLive: Bool = true, plan: CapturePlan = CapturePlan()
    ) -> CaptureStageBench {
        CaptureStageBench(
            CaptureStageScript(isLive: isLive, [.frames(320)]), plan: plan, opens: false)
    }

    private func lates(_ bench: CaptureStageBench) -> Int {
        bench.events.count { if case .late = $0 { true } else { false } }
    }

    private func turn(_ bench: CaptureStageBench, after seconds: Int...) {
        for second in seconds { bench.stage.turn(now: start + .seconds(second)) }
    }

    private func due(_ bench: CaptureStageBench) -> Duration? {
        guard case .source(.until(let instant))? = bench.stage.pendingWait else { return nil }
        return instant - start
    }

    @Test func itIsToldOnceThatADeviceDoesNotAnswer() {
        let bench = bench()
        turn(bench, after: 0)
        #expect(bench.events.isEmpty)
        #expect(due(bench) == OpeningWatch.lateness)
        turn(bench, after: 1, 2, 3)
        #expect(lates(bench) == 1)
        #expect(due(bench) == .seconds(60))
        bench.stage.opening.open(bench.stage.source.source)
        #expect(bench.runToEnd())
        #expect(lates(bench) == 1)
        #expect(bench.end?.cause == .finished)
        #expect(bench.account.capturedFrames == 320)
    }

    /// At least as long as for any other answer, and never longer than without a limit.
    @Test(arguments: [(2, 5), (20, 20), (1_800, 60)])
    func aDeviceIsWaitedForNoLongerThanTheRecordingMayBecome(_ longest: Int, _ patience: Int) {
        let bench = bench(plan: CapturePlan(tail: .none, longest: .seconds(longest)))
        turn(bench, after: 0, 1, patience - 1)
        #expect(due(bench) == .seconds(patience))
        // A program that was stopped looks once more.
        turn(bench, after: patience)
        #expect(bench.end == nil)
        turn(bench, after: patience + 1)
        #expect(
            bench.end?.cause == .source(.deviceHangs(device: "script", seconds: patience)))
    }

    @Test func aFileIsNeverGivenUp() {
        let bench = bench(isLive: false)
        turn(bench, after: 0, 1, 60, 61, 1_000, 1_001)
        #expect(lates(bench) == 1)
        #expect(bench.stage.pendingWait != nil)
        #expect(due(bench) == nil)
    }

    @Test func aStopIsHeededOnceItIsToldThatNothingAnswers() {
        let bench = bench()
        turn(bench, after: 0)
        bench.control.requestStop()
        turn(bench, after: 0)
        // The device may be there in a moment, and a last word be said.
        #expect(bench.end == nil)
        turn(bench, after: 1, 1)
        #expect(bench.end?.cause == .tooShort(frames: 0))
    }

    /// How a take without a sample ends: of a microphone, and of a file.
    private static let ends: [(isLive: Bool, cause: CaptureEnd.Cause)] = [
        (true, .tooShort(frames: 0)), (false, .source(.noSound(name: "script"))),
    ]

    @Test(arguments: ends)
    func aStopWithoutTailWaitsForNoOpening(isLive: Bool, cause: CaptureEnd.Cause) {
        let bench = bench(isLive: isLive)
        turn(bench, after: 0)
        bench.control.requestStop(keepsTail: false)
        turn(bench, after: 0)
        #expect(bench.end?.cause == cause)
    }

    @Test(arguments: ends)
    func whatHasNotOneSampleIsNotFinished(isLive: Bool, cause: CaptureEnd.Cause) {
        let bench = CaptureStageBench(CaptureStageScript(isLive: isLive, []))
        #expect(bench.runToEnd())
        #expect(bench.end?.cause == cause)
    }
}
