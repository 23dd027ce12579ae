// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Utter
@testable import UtterCommands

@Suite struct PaceArgumentTests {
    @Test(arguments: [
        ("2", Pace.times(2)), ("0.5", .times(0.5)), ("realtime", .realTime), ("max", .unpaced),
    ])
    func aPaceIsTakenAsItIsTyped(_ text: String, _ pace: Pace) {
        #expect(PaceArgument(argument: text)?.pace == pace)
    }
}
