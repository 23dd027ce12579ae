// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore
@testable import Capture

@Suite struct CaptureStageTests {
    /// The warning of the source is passed on.
    @Test func everyFrameIsEncodedOnceAndInOrder() {
        let source = CaptureStageScript([
            .frames(320), .rest, .frames(1), .frames(1_599), .rest, .rest, .frames(12_345),
        ])
        source.warning = "the file is cut short"
        let bench = CaptureStageBench(source)
        #expect(bench.runToEnd())
        #expect(bench.end?.cause == .finished)
        #expect(bench.end?.warning == "the file is cut short")
        #expect(bench.samples == (0..<14_265).map(CaptureStageScript.ramp))
        #expect(bench.account.capturedFrames == 14_265)
        #expect(bench.account.encodedFrames == 14_265)
        #expect(bench.account.encodedBytes == bench.bytes.count)
        #expect(bench.account.gapFrames == 0)
        #expect(bench.opened == [.speech])
        #expect(bench.ringIsFinished)
        #expect(source.isClosed)
    }

    @Test(
        arguments: [
            (16_000, CaptureError.deviceBusy(device: "hw:0,0")),
            (
                62,
                .formatRefused(
                    device: "script",
                    detail: "cannot convert audio of 62 Hz and 1 channels to 16000 Hz mono")
            ),
        ] as [(Int, CaptureError)])
    func aSourceThatCannotBeUsedEndsTheTakeWithoutBytes(_ rate: Int, _ error: CaptureError) {
        let source = CaptureStageScript([.frames(320)], rate: rate)
        if rate == 16_000 { source.openError = error }
        let bench = CaptureStageBench(source)
        bench.turn()
        bench.emptyRing()
        #expect(bench.end?.cause == .source(error))
        #expect(bench.bytes.isEmpty)
        #expect(bench.ringIsFinished)
        #expect(bench.stage.pendingWait == nil)
        #expect(rate == 16_000 ? bench.opened.isEmpty : source.isClosed)
    }

    /// A gap just before that becomes silence, too.
    @Test func aSourceThatBreaksInMidTakeKeepsWhatCame() {
        let lost = CaptureError.deviceLost(device: "hw:1,0", frames: 960, sampleRate: 16_000)
        let source = CaptureStageScript([
            .frames(320), .rest, .frames(320), .gap(100), .frames(320), .gap(160), .fail(lost),
        ])
        let bench = CaptureStageBench(source)
        #expect(bench.runToEnd())
        #expect(bench.end?.cause == .source(lost))
        #expect(bench.samples.count == 1_220)
        #expect(bench.samples.suffix(160).allSatisfy { $0 == 0 })
        #expect(bench.account.capturedFrames == 960)
        #expect(source.isClosed)
    }

    @Test func onlyWhatIsDueTakesATurn() {
        let source = CaptureStageScript([.frames(320), .rest, .frames(320), .rest])
        let bench = CaptureStageBench(source)
        bench.turn()
        #expect(source.position == 320)
        bench.stage.turn(now: .now - .seconds(10))
        #expect(source.position == 320)
        bench.turn()
        #expect(source.position == 640)
    }

    @Test(arguments: [8_000, 11_025, 22_050, 44_100, 48_000, 96_000])
    func aSourceOfAnotherRateIsAccountedForInFramesOf16kHz(rate: Int) {
        let source = CaptureStageScript(
            .row(50, of: [.frames(rate / 50)]), rate: rate, channels: 2)
        let bench = CaptureStageBench(source)
        #expect(bench.runToEnd())
        let read = rate / 50 * 50
        let expected = (read * 16_000 * 2 + rate) / (rate * 2)
        #expect(bench.samples.count == expected)
        #expect(bench.account.encodedFrames == expected)
        #expect(bench.account.capturedFrames == expected)
        #expect(bench.opened == [source.format])
    }

    @Test func theLevelOfTheLastReadIsKnown() {
        let bench = CaptureStageBench(CaptureStageScript([.frames(320), .rest]) { _ in -16_384 })
        bench.turn()
        #expect(bench.account.level == Level(peak: 0.5, rootMeanSquare: 0.5))
    }

    @Test func oggOpusIsAsLongAsWhatWasCapturedAndLost() throws {
        let bench = CaptureStageBench(
            CaptureStageScript(.row(100, of: [.frames(320), .rest, .gap(77)])),
            encoder: try OggOpusEncoder(serialNumber: 1))
        #expect(bench.runToEnd())
        #expect(bench.account.capturedFrames == 32_000)
        #expect(bench.account.gapFrames == 7_700)
        #expect(bench.account.encodedFrames == 39_700)
        #expect(bench.account.encodedBytes == bench.bytes.count)
        let last = try #require(try OggPage.all(in: bench.bytes).last)
        #expect(last.flags & OggPage.end != 0)
        // Behind the pre-skip.
        #expect(last.granulePosition == 312 + 39_700 * 3)
    }
}
