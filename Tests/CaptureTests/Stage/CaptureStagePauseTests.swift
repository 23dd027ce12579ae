// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AudioCore
@testable import Capture

/// A microphone that is closed for as long as its take pauses.
@Suite struct CaptureStagePauseTests {
    private typealias Step = CaptureStageScript.Step

    private func bench(
        _ source: CaptureStageScript, tail: Tail = .none, least: Duration = .zero
    ) -> CaptureStageBench {
        CaptureStageBench(source, plan: CapturePlan(tail: tail, least: least))
    }

    /// A stage in its pause, behind ten periods.
    private func paused(_ source: CaptureStageScript) -> CaptureStageBench {
        let bench = bench(source)
        bench.turn(10)
        bench.control.requestPause()
        bench.turn(20)
        #expect(bench.pauses == [3_200] && source.pauses == 1 && bench.end == nil)
        #expect(bench.account.capturedFrames == 3_200)
        return bench
    }

    @Test func whatFollowsAPauseStandsBehindWhatWasBefore() throws {
        let source = CaptureStageScript(.row(200))
        source.afterPause = .row(5)
        let bench = paused(source)
        bench.control.requestResume()
        #expect(bench.runToEnd() && bench.resumes == 1)
        #expect(bench.samples == (0..<15 * 320).map(CaptureStageScript.ramp))
        let end = try #require(bench.end)
        #expect(end.cause == .finished && end.gaps.isEmpty)
        #expect(end.pauses.map(\.start) == [3_200] && end.pauses.first?.length != nil)
    }

    /// Nothing of it is too short: the person has only paused.
    @Test func aStopInAPauseEndsTheTake() {
        let source = CaptureStageScript(.row(200))
        let bench = paused(source)
        #expect(bench.stop(after: 0))
        #expect(bench.end?.cause == .finished && source.isClosed)
        #expect(bench.samples.count == 3_200)
    }

    @Test func aPauseIsNotTooShortAndAStopInItMayBe() {
        let source = CaptureStageScript(.row(200))
        let bench = bench(source, least: .seconds(1))
        bench.turn(10)
        bench.control.requestPause()
        bench.turn(5)
        #expect(bench.pauses == [3_200])
        #expect(bench.stop(after: 0))
        #expect(bench.end?.cause == .tooShort(frames: 3_200))
    }

    @Test func inTheTailThePauseIsTakenBack() {
        let source = CaptureStageScript(.row(200))
        let bench = bench(source, tail: .speech)
        bench.turn(10)
        bench.control.requestPause()
        bench.turn(2)
        bench.control.requestResume()
        bench.turn(10)
        #expect(bench.resumes == 1 && bench.pauses.isEmpty && source.pauses == 0)
        #expect(bench.account.capturedFrames == 22 * 320)
    }

    /// The tail belongs to what was said, and so does what the device holds.
    @Test func theTailIsRecordedBeforeThePause() {
        let source = CaptureStageScript(.row(200), afterStop: [.frames(100)])
        let tail = Tail(
            quiet: .milliseconds(200), usual: .milliseconds(200), longest: .milliseconds(200))
        let bench = bench(source, tail: tail)
        bench.turn(10)
        bench.control.requestPause()
        bench.turn(40)
        #expect(bench.pauses == [20 * 320 + 100] && source.stopWasRequested)
    }

    @Test func aMicrophoneThatIsInUseByThenEndsTheTake() throws {
        let source = CaptureStageScript(.row(200))
        let bench = paused(source)
        source.openError = .deviceBusy(device: "script")
        bench.control.requestResume()
        #expect(bench.runToEnd() && bench.resumes == 0)
        guard case .source(let error)? = bench.end?.cause else {
            Issue.record("\(String(describing: bench.end))")
            return
        }
        #expect(error.isLossInMidTake)
        #expect(
            error.description
                == "recording from 'script' failed: opening it after the pause: another program holds "
                + "it (EBUSY)")
        #expect(bench.samples.count == 3_200)
    }

    @Test func theConverterLosesNothingAtAPause() {
        let source = CaptureStageScript(.row(200, of: [.frames(960), .rest]), rate: 48_000)
        source.afterPause = .row(10, of: [.frames(960), .rest])
        let bench = paused(source)
        bench.control.requestResume()
        #expect(bench.runToEnd())
        #expect(bench.account.capturedFrames == 20 * 320 && bench.samples.count == 20 * 320)
    }

    @Test func aFileWaitsWhereItIs() {
        let source = CaptureStageScript(isLive: false, .row(200))
        let bench = bench(source)
        bench.turn(10)
        bench.control.requestPause()
        bench.turn(20)
        #expect(bench.pauses == [3_200] && source.pauses == 0)
        bench.control.requestResume()
        #expect(bench.runToEnd())
        #expect(bench.samples == (0..<200 * 320).map(CaptureStageScript.ramp))
        #expect(bench.end?.warning == nil && bench.end?.isWhole == true)
    }

    @Test func aFileThatIsStoppedInItsPauseIsNotWhole() {
        let bench = bench(CaptureStageScript(isLive: false, .row(200)))
        bench.turn(10)
        bench.control.requestPause()
        bench.turn(3)
        #expect(bench.stop(after: 0))
        #expect(bench.end?.isWhole == false)
        #expect(bench.end?.warning == "the rest of 'script' was not read")
    }

    @Test(arguments: [1, 2, 3]) func eachPauseIsNoted(_ count: Int) {
        let source = CaptureStageScript(.row(200))
        source.afterPause = .row(200)
        let bench = bench(source)
        for _ in 0..<count {
            bench.turn(10)
            bench.control.requestPause()
            bench.turn(3)
            bench.control.requestResume()
            bench.turn()
        }
        #expect(bench.stop(after: 0))
        #expect(bench.end?.pauses.count == count && bench.end?.pauses.map(\.start) == bench.pauses)
    }
}
