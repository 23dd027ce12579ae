// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AudioCore

@Suite struct PowerTrackTests {
    /// 20 ms of a square wave.
    private func unit(_ sample: Int16) -> [Int16] { Array(repeating: sample, count: 320) }

    @Test func eachUnitHasItsPower() {
        let track = PowerTrack()
        // In pieces that are not units.
        let samples = unit(100) + unit(1_000) + unit(0)
        for start in stride(from: 0, to: samples.count, by: 200) {
            track.add(samples[start..<min(start + 200, samples.count)].span)
        }
        #expect(track.end == 960)
        for (frame, power) in [(0, 1e4), (319, 1e4), (320, 1e6), (640, 0), (960, 0)] {
            // In steps of half a decibel.
            #expect(abs(track.power(at: frame) - power) <= 0.06 * power, "\(frame)")
        }
    }

    @Test func aSummaryHasTheLoudestOfFive() {
        let track = PowerTrack()
        for sample in [1, 100, 1, 1, 1, 10, 10, 10, 10, 10, 1_000] as [Int16] {
            track.add(unit(sample).span)
        }
        let summary = track.summary
        #expect(summary.count == 2)
        let later = PowerTrack(summary: summary)
        #expect(later.end == 3_200 && !later.isLive)
        #expect([0, 1_599].map(later.power) == [320, 320].map(track.power))
        #expect([1_600, 3_199].map(later.power) == [1_600, 1_600].map(track.power))
        #expect(later.summary == summary)
    }

    /// What is known is not noted twice, and nothing is left out.
    @Test func whatIsMeasuredFollowsTheEnd() {
        let track = PowerTrack(summary: [40])
        track.add(1e6, upTo: 1_500)
        #expect(track.end == 1_600)
        track.add(1e6, upTo: 2_000)
        track.add(1e6, upTo: 2_400)
        #expect(track.end == 2_400)
        #expect(abs(track.power(at: 2_239) - 1e6) < 6e4)
        #expect(abs(track.power(at: 1_599) - 99) < 1)
    }
}
