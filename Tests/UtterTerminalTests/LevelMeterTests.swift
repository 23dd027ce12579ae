// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AudioCore
@testable import UtterTerminal

@Suite struct LevelMeterTests {
    private let start = ContinuousClock.now

    private func meter(_ peaks: (Float, Duration)...) -> LevelMeter {
        var meter = LevelMeter()
        for (peak, time) in peaks {
            let level = Level(peak: peak, rootMeanSquare: peak / 3)
            meter.note(decibels: level.peakDecibels, at: start + time)
        }
        return meter
    }

    @Test func itIsFilledFromTheFloorToFullScale() {
        #expect(meter().bar(cells: 4) == "▕    ▏")
        #expect(meter((0, .zero)).bar(cells: 4) == "▕    ▏")
        #expect(meter((1, .zero)).bar(cells: 4) == "▕████▏")
        // -30 dBFS is the middle; where the bar ends, its stroke stands.
        #expect(meter((0.0317, .zero)).bar(cells: 4) == "▕██│ ▏")
        #expect(meter((0.0317, .zero)).cell == "▄")
        #expect(meter((0, .zero)).cell == " ")
        #expect(meter((1, .zero)).cell == "█")
    }

    @Test func theHighestPeakStaysForAMoment() {
        #expect(
            meter((0.5, .zero), (0.0317, .seconds(1))).bar(cells: 12) == "▕██████    │ ▏")
        #expect(
            meter((0.5, .zero), (0.0317, .seconds(2))).bar(cells: 12) == "▕██████│     ▏")
    }
}
