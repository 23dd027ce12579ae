// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AudioDevices

@Suite struct CaptureClockTests {
    private static let second: Int64 = 1_000_000_000

    @Test func framesFollowTheClock() {
        let clock = CaptureClock(sampleRate: 16_000, startedAt: 7 * Self.second)
        #expect(clock.frames(at: 7 * Self.second) == 0)
        #expect(clock.frames(at: 8 * Self.second) == 16_000)
        #expect(clock.frames(at: 7 * Self.second + 20_000_000) == 320)
        #expect(clock.frames(at: 0) == 0)
    }

    @Test func aCardThatBeganBeforeWeLookedCountsFromItsBeginning() {
        var clock = CaptureClock(sampleRate: 16_000, startedAt: 0)
        clock.note(frames: 16_080, at: Self.second)
        #expect(clock.frames(at: 2 * Self.second) == 32_080)
    }

    @Test func aLateLookDoesNotMakeTheCardSlower() {
        var clock = CaptureClock(sampleRate: 16_000, startedAt: 0)
        clock.note(frames: 16_000, at: Self.second)
        clock.note(frames: 17_600, at: Self.second + 300_000_000)
        #expect(abs(clock.frames(at: 2 * Self.second) - 32_000) <= 1)
    }

    @Test func aSlowCrystalIsFollowed() {
        var clock = CaptureClock(sampleRate: 16_000, startedAt: 0)
        for second in 1...3_600 {
            // 50 ppm slow.
            clock.note(frames: second * 16_000 - second * 8 / 10, at: Int64(second) * Self.second)
        }
        let slow = 3_601 * 16_000 - 3_601 * 8 / 10
        #expect(abs(clock.frames(at: 3_601 * Self.second) - slow) <= 2)
    }

    @Test func yearsDoNotOverflow() {
        let year = 31_536_000 * Self.second
        var clock = CaptureClock(sampleRate: 192_000, startedAt: 0)
        clock.note(frames: 192_000 * 31_536_000, at: year)
        #expect(clock.frames(at: year) == 192_000 * 31_536_000)
    }
}
