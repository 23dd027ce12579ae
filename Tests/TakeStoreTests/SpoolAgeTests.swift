// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import TakeStore

/// How old takes are on a machine whose clock may be wrong.
@Suite struct SpoolAgeTests {
    private static let day = 86_400

    private let folder: TemporaryFolder
    private let store: TakeStore
    private let right = Date(timeIntervalSince1970: 1_800_000_000)

    init() throws {
        folder = try TemporaryFolder()
        store = try TakeStore(stateFolder: folder.path("state"))
    }

    /// The age in days of what was made at a time, seen by a process that notes the clock.
    private func age(of made: Date, at now: Date, boot: String, uptime: Int) -> Int {
        let clock = SpoolAge(
            in: store, at: ClockReading(now, boot: (boot, uptime)), isNoted: true)
        return Int(clock.age(since: made).components.seconds) / Self.day
    }

    private func days(_ count: Int) -> TimeInterval { TimeInterval(count * Self.day) }

    @Test(arguments: [60, 365, 20_000])
    func aTakeFromBeforeTheClockWasSetIsAsOldAsTheRightClockHasSeen(_ behind: Int) {
        let made = right - days(behind)
        #expect(age(of: made, at: made, boot: "a", uptime: 30) == 0)
        // The network has told the time.
        #expect(age(of: made, at: right, boot: "a", uptime: 90) == 0)
        #expect(age(of: made, at: right + days(29), boot: "a", uptime: 90 + 29 * Self.day) == 29)
        // Also when the machine was started anew since.
        #expect(age(of: made, at: right + days(31), boot: "b", uptime: 10) == 31)
    }

    @Test func aMachineThatWasOffForMonthsHasOldTakes() {
        #expect(age(of: right, at: right, boot: "a", uptime: 30) == 0)
        #expect(age(of: right, at: right + days(60), boot: "b", uptime: 30) == 60)
    }

    @Test func aMachineThatSleepsForMonthsHasOldTakes() {
        #expect(age(of: right, at: right, boot: "a", uptime: 30) == 0)
        #expect(age(of: right, at: right + days(60), boot: "a", uptime: 30 + 60 * Self.day) == 60)
    }

    @Test func aClockThatIsCorrectedByMinutesMakesNothingYounger() {
        #expect(age(of: right, at: right, boot: "a", uptime: 30) == 0)
        let later = right + days(3) - 1_800
        #expect(age(of: right, at: later + 3_000, boot: "a", uptime: 30 + 3 * Self.day) == 3)
    }

    @Test func eachStartOfTheMachineIsNotedSoThatItsClockCanBeJudged() {
        let made = right - days(60)
        #expect(age(of: made, at: made - 600, boot: "a", uptime: 9_000) == 0)
        // Minutes later by a clock that goes on from where it was switched off.
        #expect(age(of: made, at: made, boot: "b", uptime: 30) == 0)
        #expect(age(of: made, at: right, boot: "b", uptime: 90) == 0)
    }

    @Test(arguments: ["1 2 3\n", "1 2 x a\n", "1 2 99999999999999999999 a\n", "-1 2 3 a\n"])
    func aDamagedNoteOfTheClockMakesNothingOld(_ text: String) throws {
        try folder.write(Array(text.utf8), to: "state/clock")
        #expect(age(of: right - days(60), at: right, boot: "a", uptime: 30) == 0)
    }

    @Test func theClockOfThisMachineIsRead() {
        let reading = ClockReading.now
        #expect(reading.boot?.id.count == 36)
        #expect((reading.boot?.seconds ?? 0) > 0)
    }
}
