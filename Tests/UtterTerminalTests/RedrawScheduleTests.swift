// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterTerminal

/// How often a line is drawn, by a clock that the test moves.
@Suite struct RedrawScheduleTests {
    private let start = ContinuousClock.now

    @Test func theFirstChangeAfterARestIsDrawnAtOnce() {
        var schedule = RedrawSchedule()
        #expect(schedule.wait(at: start) == nil)
        schedule.change()
        #expect(schedule.wait(at: start) == .zero)
        schedule.draw(at: start, nextChange: nil)
        #expect(schedule.wait(at: start) == nil)
    }

    @Test func theLastOfManyChangesIsDrawnInItsTurn() {
        var schedule = RedrawSchedule()
        schedule.draw(at: start, nextChange: nil)
        schedule.change()
        schedule.change()
        let later = start + .milliseconds(10)
        #expect(schedule.wait(at: later) == RedrawSchedule.interval - .milliseconds(10))
        #expect(schedule.wait(at: start + .seconds(1)) == .zero)
    }

    @Test func noSecondHasMoreThanTwentyDrawings() {
        var random = SeededRandom()
        var schedule = RedrawSchedule()
        var now = start
        var drawings: [ContinuousClock.Instant] = []
        for _ in 0..<5_000 {
            schedule.change()
            if schedule.wait(at: now) == .zero {
                drawings.append(now)
                schedule.draw(at: now, nextChange: nil)
            }
            now += .microseconds(Int.random(in: 0...8_000, using: &random))
        }
        for drawing in drawings {
            let second = drawing...(drawing + .seconds(1))
            #expect(drawings.filter(second.contains).count <= 20)
        }
        // The last state, too.
        schedule.change()
        #expect(schedule.wait(at: now).map { $0 <= RedrawSchedule.interval } == true)
    }

    @Test func aLineThatCountsSecondsIsDrawnWithoutAChange() {
        var schedule = RedrawSchedule()
        schedule.draw(at: start, nextChange: .milliseconds(100))
        #expect(schedule.wait(at: start) == .milliseconds(100))
        #expect(schedule.wait(at: start + .milliseconds(100)) == .zero)
    }
}
