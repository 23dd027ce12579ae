// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AudioCore

@Suite struct LevelTests {
    private func level(_ samples: [Int16]) -> Level { Level(of: samples.span) }

    @Test func noSamplesAreSilence() {
        let silence = Level(peak: 0, rootMeanSquare: 0)
        #expect(level([]) == silence)
        #expect(level([0, 0, 0]) == silence)
        #expect(silence.decibels == -96)
        #expect(silence.peakDecibels == -96)
    }

    @Test func theLoudestSquareIsFullScale() {
        let loud = level(Array(repeating: .min, count: 3_200))
        #expect(loud == Level(peak: 1, rootMeanSquare: 1))
        #expect(loud.decibels == 0)
        #expect(loud.peakDecibels == 0)
    }

    @Test func thePeakIsTheLargestMagnitudeAndTheMeanThatOfASquare() {
        #expect(level([1, -16_384, 8_192]).peak == 0.5)
        #expect(level([1, 16_384, -8_192]).peak == 0.5)
        #expect(level([8_192, -8_192, 8_192, -8_192]).rootMeanSquare == 0.25)
        #expect(level([16_384, 0, 0, 0]).rootMeanSquare == 0.25)
    }

    @Test func halfOfFullScaleIs6DecibelsDown() {
        let decibels = Level(peak: 0.5, rootMeanSquare: 0.25)
        #expect(abs(decibels.peakDecibels + 6.0206) < 0.001)
        #expect(abs(decibels.decibels + 12.0412) < 0.001)
    }

    @Test func theFaintestSampleIsAboveSilence() {
        #expect(level([1]).peakDecibels > -91)
        #expect(Level(peak: 1e-6, rootMeanSquare: 0).peakDecibels == -96)
    }
}
