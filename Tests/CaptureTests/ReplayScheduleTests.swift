// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Capture

@Suite struct ReplayScheduleTests {
    @Test(arguments: [1, 2.5, 0.1, 1_000])
    func framesAndInstantsAgree(speed: Double) {
        var random = SeededRandom()
        let start = ContinuousClock.now
        for rate in [8_000, 11_025, 16_000, 44_100, 48_000, 384_000] {
            let schedule = ReplaySchedule(start: start, sampleRate: rate, speed: speed)
            for _ in 0..<200 {
                let frames = Int.random(in: 1...10_000_000_000, using: &random)
                let instant = schedule.instant(ofFrames: frames)
                let comment = "seed \(random.seed), \(frames) frames at \(rate) Hz"
                #expect(schedule.frames(at: instant) >= frames, "\(comment)")
                let before = instant - .nanoseconds(1)
                #expect(schedule.frames(at: before) <= frames - (speed > 100 ? 0 : 1), "\(comment)")
            }
        }
    }

    @Test func aFrameIsNeverEarlyAndAnHourDoesNotDrift() {
        let start = ContinuousClock.now
        let schedule = ReplaySchedule(start: start, sampleRate: 11_025, speed: 1)
        // 220 frames at 11025 Hz last 19.9546485… ms.
        #expect(schedule.instant(ofFrames: 220) - start == .nanoseconds(19_954_649))
        #expect(schedule.instant(ofFrames: 11_025 * 3_600) - start == .seconds(3_600))
    }

    @Test func beforeTheStartNothingIsDue() {
        let start = ContinuousClock.now
        let schedule = ReplaySchedule(start: start, sampleRate: 16_000, speed: 1)
        #expect(schedule.frames(at: start) == 0)
        #expect(schedule.frames(at: start - .seconds(5)) == 0)
        #expect(schedule.frames(at: start + .seconds(1_000_000_000_000)) > 1_000_000)
    }
}
