// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Capture
@testable import Utter

/// How often it is told how far a take has come.
@Suite struct ProgressMeterTests {
    private let account = CaptureAccount()
    private let meter: ProgressMeter

    init() { meter = ProgressMeter(of: account, bodyOffset: 44) }

    @Test func tenTimesASecondWhileTheJournalGrows() {
        // A period each 20 ms, for a second.
        let told = (0..<50).count { meter.isDue(at: .milliseconds(20 * $0)) }
        #expect(told == 10)
    }

    @Test func tenTimesASecondAndAtTheEndWhenTheRecordingIsComplete() {
        #expect(!meter.noteComplete(44 + 1_000))
        let told = (1...1_000).filter { meter.noteSent($0, at: .milliseconds($0)).isDue }
        #expect(told.count == 11)
        #expect(told.last == 1_000)
    }

    @Test func notByTheTransferWhileTheJournalTells() {
        #expect(meter.noteSent(5, at: .seconds(1)) == (false, false))
        #expect(meter.isDue(at: .seconds(1)))
    }

    @Test func thatAllWasSentIsToldOnceAnAttempt() {
        #expect(!meter.noteSent(500).isWhole)
        #expect(!meter.noteComplete(44 + 1_000))
        #expect(!meter.noteSent(999).isWhole)
        #expect(meter.noteSent(1_000).isWhole)
        #expect(!meter.noteSent(1_000).isWhole)
        meter.noteAttempt()
        #expect(meter.noteSent(1_000).isWhole)
    }

    @Test func whatWasSentBeforeItWasCompleteIsToldThen() {
        #expect(!meter.noteSent(1_000).isWhole)
        #expect(meter.noteComplete(44 + 1_000))
        #expect(!meter.noteSent(1_000).isWhole)
    }

    @Test func anEmptyRecordingIsNotSent() {
        #expect(!meter.noteComplete(44))
        #expect(!meter.noteSent(0).isWhole)
    }
}
