// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Utter

/// When a connection that is kept ready is used again.
@Suite struct WarmthScheduleTests {
    @Test func aWaitThatWasSurvivedIsDoubledUpToTheLongest() {
        var schedule = WarmthSchedule()
        #expect(schedule.wait == .seconds(4))
        schedule.note(.lost, limit: nil)
        #expect(schedule.wait == .seconds(4))
        var waits: [Duration] = []
        for _ in 0..<5 {
            schedule.note(.kept, limit: nil)
            waits.append(schedule.wait)
        }
        #expect(waits == [8, 16, 32, 32, 32].map { .seconds($0) })
    }

    @Test func aWaitThatWasTooLongIsNotTriedAgain() {
        var schedule = WarmthSchedule()
        for finding in [WarmthSchedule.Finding.lost, .kept, .kept] {
            schedule.note(finding, limit: nil)
        }
        #expect(schedule.wait == .seconds(16))
        schedule.note(.lost, limit: nil)
        #expect(schedule.wait == .seconds(8))
        schedule.note(.kept, limit: nil)
        #expect(schedule.wait == .seconds(8))
    }

    @Test func theServicesOwnWordIsALimit() {
        var schedule = WarmthSchedule()
        schedule.note(.lost, limit: .seconds(7))
        schedule.note(.kept, limit: nil)
        #expect(schedule.wait == .seconds(6))
        #expect(schedule.longestIdleTime == .seconds(7))
    }

    @Test func aServiceThatKeepsNoneIsLeftAlone() {
        var schedule = WarmthSchedule()
        for _ in 0..<3 { schedule.note(.lost, limit: nil) }
        #expect(schedule.wait == .seconds(4))
        schedule.note(.lost, limit: nil)
        #expect(schedule.wait == .seconds(300))
        schedule.note(.kept, limit: nil)
        #expect(schedule.wait == .seconds(4))
        schedule.note(.failed, limit: nil)
        #expect(schedule.wait == .seconds(300))
    }

    @Test(arguments: [
        ("timeout=5, max=100", Duration.seconds(5)), ("max=3,Timeout = 60", .seconds(60)),
        ("timeout=0", nil), ("timeout=x", nil), ("", nil), ("timeout=99999999999999999999", nil),
    ])
    func aFieldSaysHowLong(_ field: String, _ limit: Duration?) {
        #expect(WarmthSchedule.limit(of: field) == limit)
    }
}
