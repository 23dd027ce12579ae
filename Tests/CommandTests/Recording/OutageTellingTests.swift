// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Utter
@testable import UtterCommands

/// Which interruptions of a take a person is told of.
@Suite struct OutageTellingTests {
    private static func lost(_ reason: String) -> TakeFailure {
        .notDelivered(.cannotConnect(reason), host: "there")
    }

    @Test func theSameReasonIsSaidOnce() {
        var telling = OutageTelling()
        #expect(telling.interrupted(Self.lost("refused")) == Self.lost("refused").description)
        for _ in 0..<7 { #expect(telling.interrupted(Self.lost("refused")) == nil) }
        #expect(telling.interrupted(Self.lost("unreachable")) != nil)
        #expect(telling.interrupted(Self.lost("refused")) != nil)
    }

    @Test func theReturnOfTheConnectionIsSaidOnce() {
        var telling = OutageTelling()
        // The first connection is none that is back.
        #expect(telling.connected() == false)
        _ = telling.interrupted(Self.lost("refused"))
        #expect(telling.connected() == true)
        #expect(telling.connected() == false)
        // A link that comes and goes for the same reason is no news.
        #expect(telling.interrupted(Self.lost("refused")) == nil)
        #expect(telling.connected() == false)
    }

    @Test func aServiceThatIsBusyWasNeverAway() {
        var telling = OutageTelling()
        let busy = TakeFailure.unavailable(status: 503, message: nil)
        #expect(telling.interrupted(busy) == busy.description)
        #expect(telling.connected() == false)
        #expect(telling.interrupted(busy) == nil)
    }
}
