// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Capture

/// What a stage tells of a microphone while it records.
@Suite struct CaptureStageSignalTests {
    private static func periods(_ count: Int) -> [CaptureStageScript.Step] {
        Array(repeating: [.frames(320), .rest], count: count).flatMap { $0 }
    }

    @Test func zerosAreToldWhileTheyCome() {
        let source = CaptureStageScript(Self.periods(60))
        source.sample = { _ in 0 }
        let bench = CaptureStageBench(source)
        bench.turn(55)
        #expect(bench.signals == [.zero])
        #expect(bench.runToEnd())
        #expect(bench.end?.hasVoice == false)
    }

    @Test func ofAFileNothingIsSaid() {
        let source = CaptureStageScript(isLive: false, Self.periods(100))
        source.sample = { _ in 0 }
        let bench = CaptureStageBench(source)
        #expect(bench.runToEnd())
        #expect(bench.signals.isEmpty)
        #expect(bench.end?.hasVoice == nil)
    }

    @Test func aDeviceThatDeliversNothingIsToldAfterASecond() {
        let bench = CaptureStageBench(CaptureStageScript([.frames(320), .restForEver]))
        let begin = ContinuousClock.now
        bench.stage.turn(now: begin)
        bench.stage.turn(now: begin + .milliseconds(1_000))
        #expect(bench.signals.isEmpty)
        bench.stage.turn(now: begin + .milliseconds(1_200))
        bench.stage.turn(now: begin + .milliseconds(5_000))
        #expect(bench.signals == [.absent])
    }

    @Test func framesThatComeAgainAreToldToo() {
        let bench = CaptureStageBench(
            CaptureStageScript([.frames(320), .rest, .rest, .frames(320), .restForEver]))
        let begin = ContinuousClock.now
        bench.stage.turn(now: begin)
        bench.stage.turn(now: begin + .milliseconds(1_200))
        bench.stage.turn(now: begin + .milliseconds(1_300))
        #expect(bench.signals == [.absent, .good])
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

    private func bench(silence: Duration) throws -> (CaptureStageBench, spoken: Int) {
        let frames = try SpokenWords.all[0].frames()
        let source = CaptureStageScript(Self.periods(900))
        source.sample = { frames[$0 % frames.count] }
        let plan = CapturePlan(tail: .speech, silence: silence)
        return (CaptureStageBench(source, plan: plan), frames.count)
    }

    @Test func theSilenceBehindAVoiceIsToldOnceForEachVoice() throws {
        let (bench, spoken) = try bench(silence: .milliseconds(1_500))
        // Three times: what is said, and two seconds of silence.
        bench.turn(3 * spoken / 320)
        #expect(bench.quiets == 3)
        #expect(bench.end == nil)
    }

    @Test func withoutAVoiceNoSilenceIsTold() {
        let source = CaptureStageScript(Self.periods(600))
        source.sample = { _ in 0 }
        let plan = CapturePlan(tail: .speech, silence: .milliseconds(500))
        let bench = CaptureStageBench(source, plan: plan)
        bench.turn(500)
        #expect(bench.quiets == 0)
    }

    @Test func aPauseThatIsShorterIsNotTold() throws {
        let (bench, spoken) = try bench(silence: .seconds(4))
        bench.turn(3 * spoken / 320)
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
        let source = CaptureStageScript(isLive: isLive, Self.periods(100), afterStop: [])
        let plan = CapturePlan(tail: .speech, least: .milliseconds(200))
        let bench = CaptureStageBench(source, plan: plan)
        bench.turn(periods)
        bench.control.requestStop()
        #expect(bench.runToEnd())
        #expect(bench.end?.cause == cause)
        #expect(source.isClosed)
    }
}
