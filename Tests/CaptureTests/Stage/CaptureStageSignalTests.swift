// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Capture

/// What a stage tells of a microphone while it records.
@Suite struct CaptureStageSignalTests {
    @Test func zerosAreToldWhileTheyCome() {
        let bench = CaptureStageBench(CaptureStageScript(.row(60)) { _ in 0 })
        bench.turn(55)
        #expect(bench.signals == [.zero])
        #expect(bench.runToEnd())
        #expect(bench.end?.hasVoice == false)
    }

    @Test func ofAFileNothingIsSaid() {
        let bench = CaptureStageBench(CaptureStageScript(isLive: false, .row(100)) { _ in 0 })
        #expect(bench.runToEnd())
        #expect(bench.signals.isEmpty)
        #expect(bench.end?.hasVoice == nil)
    }

    @Test func aDeviceThatDeliversNothingIsToldOnceAfterASecondAndItsReturnToo() {
        let bench = CaptureStageBench(
            CaptureStageScript([
                .frames(320), .rest, .rest, .rest, .rest, .frames(320), .restForEver,
            ]))
        let begin = ContinuousClock.now
        for (milliseconds, told) in [
            (0, []), (1_000, []), (1_200, [.absent]), (5_000, [.absent]),
            (5_100, [.absent, .good]),
        ] as [(Int, [SignalState])] {
            bench.stage.turn(now: begin + .milliseconds(milliseconds))
            #expect(bench.signals == told)
        }
    }

    @Test func aWaitForDescriptorsEndsWhenTooLongNothingCame() throws {
        let bench = CaptureStageBench(CaptureStageScript([.frames(320), .descriptor(-1)]))
        let begin = ContinuousClock.now
        bench.stage.turn(now: begin)
        guard case .source(.forDescriptorsOrUntil(let instant)) = bench.stage.pendingWait else {
            Issue.record("\(String(describing: bench.stage.pendingWait))")
            return
        }
        #expect(instant == begin + SignalWatch.patience)
    }

    // MARK: - Silence behind a voice

    @Test(arguments: [(1_500, 3), (4_000, 0)])
    func aSilenceThatIsLongEnoughIsToldOnceForEachVoice(milliseconds: Int, count: Int) throws {
        let frames = try SpokenWords.all[0].frames()
        let source = CaptureStageScript(.row(900)) { frames[$0 % frames.count] }
        let plan = CapturePlan(tail: .speech, silence: .milliseconds(milliseconds))
        let bench = CaptureStageBench(source, plan: plan)
        // Three times: what is said, and two seconds of silence.
        bench.turn(3 * frames.count / 320)
        #expect(bench.quiets == count)
        #expect(bench.end == nil)
    }

    @Test func withoutAVoiceNoSilenceIsTold() {
        let plan = CapturePlan(tail: .speech, silence: .milliseconds(500))
        let bench = CaptureStageBench(CaptureStageScript(.row(600)) { _ in 0 }, plan: plan)
        bench.turn(500)
        #expect(bench.quiets == 0)
    }

    // MARK: - Too short

    @Test(arguments: [
        // A touch of the key, the shortest that is one, and a file.
        (9, true, CaptureEnd.Cause.tooShort(frames: 9 * 320)), (10, true, .finished),
        (2, false, .finished),
    ])
    func onlyATouchOfTheKeyIsDropped(
        _ periods: Int, _ isLive: Bool, _ cause: CaptureEnd.Cause
    ) {
        let source = CaptureStageScript(isLive: isLive, .row(100))
        let plan = CapturePlan(tail: .speech, least: .milliseconds(200))
        let bench = CaptureStageBench(source, plan: plan)
        #expect(bench.stop(after: periods))
        #expect(bench.end?.cause == cause)
        #expect(source.isClosed)
    }
}
