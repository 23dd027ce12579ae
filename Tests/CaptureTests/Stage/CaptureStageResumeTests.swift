// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Capture

/// A request to stop that is taken back.
@Suite struct CaptureStageResumeTests {
    private func bench(_ source: CaptureStageScript) -> CaptureStageBench {
        // 800 ms, whatever is heard.
        let tail = Tail(
            quiet: .milliseconds(800), usual: .milliseconds(800), longest: .milliseconds(800))
        return CaptureStageBench(source, plan: CapturePlan(tail: tail))
    }

    @Test func theTailAndWhatFollowsAreOneRecording() {
        let source = CaptureStageScript(.row(200))
        let bench = bench(source)
        bench.turn(10)
        bench.control.requestStop()
        bench.turn(5)
        bench.control.requestResume()
        bench.turn(100)
        #expect(bench.resumes == 1)
        #expect(!source.stopWasRequested)
        #expect(bench.stop(after: 0))
        #expect(bench.samples == (0..<bench.samples.count).map(CaptureStageScript.ramp))
        // The second tail is as long as if there had been no first.
        #expect(bench.account.capturedFrames == 115 * 320 + Tail.speech.longest)
    }

    @Test func aStopThatIsTakenBackBeforeItIsSeenIsToldAllTheSame() {
        let bench = bench(CaptureStageScript(.row(20)))
        bench.turn(10)
        bench.control.requestStop()
        bench.control.requestResume()
        bench.turn()
        #expect(bench.resumes == 1)
        #expect(bench.runToEnd())
        #expect(bench.account.capturedFrames == 20 * 320)
    }

    @Test func anotherStopAfterItWinsAndTheTailBeginsAnew() {
        let bench = bench(CaptureStageScript(.row(200)))
        bench.turn(10)
        bench.control.requestStop()
        bench.turn(20)
        bench.control.requestResume()
        #expect(bench.stop(after: 0))
        #expect(bench.resumes == 1)
        #expect(bench.account.capturedFrames == 30 * 320 + Tail.speech.longest)
    }

    @Test func afterTheTailItIsTooLate() {
        let source = CaptureStageScript(.row(200), afterStop: [.frames(100), .rest, .rest])
        let bench = bench(source)
        bench.turn(10)
        bench.control.requestStop()
        bench.turn(40)
        #expect(source.stopWasRequested)
        bench.control.requestResume()
        #expect(bench.runToEnd())
        #expect(bench.resumes == 0)
        #expect(bench.end?.cause == .finished)
    }

    @Test func theFirstFrameIsToldOnceAndNotBefore() {
        let bench = bench(
            CaptureStageScript([.rest, .rest, .gap(320), .frames(320), .rest, .frames(320)]))
        bench.turn(2)
        #expect(bench.opened.count == 1)
        #expect(bench.begins == 0)
        #expect(bench.account.firstFrame == nil)
        #expect(bench.runToEnd())
        #expect(bench.begins == 1)
        #expect(bench.account.firstFrame != nil)
    }
}
