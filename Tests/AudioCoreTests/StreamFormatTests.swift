// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AudioCore

@Suite struct StreamFormatTests {
    @Test func speechIs16kHzMonoInPeriodsOf20Milliseconds() {
        #expect(StreamFormat.speech == StreamFormat(sampleRate: 16_000, channelCount: 1))
        #expect(StreamFormat.speech.framesPerPeriod == 320)
    }

    @Test(arguments: [(0, 0), (1, 62_500), (320, 20_000_000), (16_001, 1_000_062_500)])
    func framesOfSpeechLast(frames: Int, nanoseconds: Int) {
        #expect(StreamFormat.speech.duration(ofFrames: frames) == .nanoseconds(nanoseconds))
        #expect(StreamFormat.speech.frames(in: .nanoseconds(nanoseconds)) == frames)
    }

    @Test func anIncompleteFrameIsNotCounted() {
        #expect(StreamFormat.speech.frames(in: .nanoseconds(62_499)) == 0)
        #expect(StreamFormat.speech.frames(in: .nanoseconds(124_999)) == 1)
        let format = StreamFormat(sampleRate: 44_100, channelCount: 2)
        #expect(format.frames(in: .seconds(1) / 3) == 14_699)
        #expect(format.frames(in: .milliseconds(20)) == 882)
    }

    @Test func aYearAtAnyRateIsCountedAndADurationBeyondAllFramesIsTheMostFrames() {
        let format = StreamFormat(sampleRate: 384_000, channelCount: 8)
        let frames = 365 * 86_400 * 384_000
        #expect(format.duration(ofFrames: frames) == .seconds(365 * 86_400))
        #expect(format.frames(in: .seconds(365 * 86_400)) == frames)
        #expect(StreamFormat.speech.frames(in: .seconds(Int64.max)) == .max)
    }
}
