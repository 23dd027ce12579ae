// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LinuxPlatform

@Suite struct SettlementTests {
    @Test func aDeadlineSettlesWhatNothingElseHasSettled() async {
        let settlement = Settlement<Int>()
        #expect(await settlement.value(by: .now, or: 1) == 1)
        settlement.settle(2)
        #expect(await settlement.value == 1)
    }

    @Test func whatIsSettledBeforeTheDeadlineStays() async {
        let settlement = Settlement<Int>()
        settlement.settle(2)
        #expect(await settlement.value(by: .now - .seconds(1), or: 1) == 2)
        #expect(await settlement.value == 2)
    }

    @Test func oneWhoWaitsHearsBeforeTheDeadline() async {
        let settlement = Settlement<Int>()
        async let value = settlement.value(by: .now + .seconds(3_600), or: 1)
        settlement.settle(2)
        #expect(await value == 2)
    }
}
