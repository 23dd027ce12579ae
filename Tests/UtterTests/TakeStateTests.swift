// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TakeStore
@testable import Utter

/// How often it is told what of a complete recording has been sent.
@Suite struct TakeStateTests {
    private func state(isSealed: Bool) throws -> TakeState {
        var state = TakeState(
            delivery: Delivery(
                url: try ServiceURL("http://127.0.0.1:9/"), allowed: [], policy: .standard))
        if isSealed { state.seal = JournalSeal(byteCount: 1_000, sha256: "", loss: nil) }
        return state
    }

    @Test func twentyTimesASecondAndAtTheEnd() throws {
        var state = try state(isSealed: true)
        let start = ContinuousClock.now + .seconds(1)
        var told: [Int] = []
        for sent in 1...1_000 {
            let now = start + .milliseconds(sent)
            if state.tellsProgress(sent: sent, of: 1_000, at: now) { told.append(sent) }
        }
        #expect(told.count == 21)
        #expect(told.last == 1_000)
    }

    @Test func notWhileTheJournalTells() throws {
        var state = try state(isSealed: false)
        let tells = state.tellsProgress(sent: 5, of: 5, at: .now + .seconds(1))
        #expect(!tells)
    }
}
