// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Utter

@Suite struct TakeAccountTests {
    /// One second with a hole of 100 ms, sent whole.
    private let right = TakeAccount(
        capturedFrames: 14_400, gapFrames: 1_600, encodedFrames: 16_000, encodedBytes: 32_044,
        journaledBytes: 32_044, bodyOffset: 44, sentBytes: 32_000, wireBytes: 32_000,
        sha256: String(repeating: "0", count: 64))

    private let delivered: TakeAccount.Circumstances = {
        var circumstances = TakeAccount.Circumstances()
        circumstances.listedGapFrames = 1_600
        circumstances.isSentWhole = true
        return circumstances
    }()

    private func imbalance(
        _ change: (inout TakeAccount, inout TakeAccount.Circumstances) -> Void
    ) -> String? {
        var (account, circumstances) = (right, delivered)
        change(&account, &circumstances)
        return account.imbalance(circumstances)
    }

    @Test func whatAgreesIsBalanced() {
        #expect(imbalance { _, _ in } == nil)
    }

    @Test func eachStageIsComparedWithTheOneBefore() {
        #expect(
            imbalance { account, _ in account.capturedFrames -= 1 }
                == "14399 frames were captured and 1600 lost, but 16000 encoded")
        #expect(
            imbalance { account, _ in account.encodedFrames += 320 }
                == "14400 frames were captured and 1600 lost, but 16320 encoded")
        #expect(
            imbalance { _, circumstances in circumstances.listedGapFrames = 1_000 }
                == "1600 frames were lost, but the gaps are 1000 frames long")
        #expect(
            imbalance { account, _ in account.journaledBytes -= 2 }
                == "32044 bytes were encoded, but 32042 are in the journal")
        #expect(
            imbalance { account, _ in account.sentBytes -= 640 }
                == "32000 bytes were to be sent, but 31360 were")
        #expect(
            imbalance { account, _ in account.sha256 = "" }
                == "the journal has 32044 bytes, but no SHA-256")
    }

    @Test func whatWasNotSentWholeMayHaveSentLess() {
        let found = imbalance { account, circumstances in
            account.sentBytes = 100
            circumstances.isSentWhole = false
        }
        #expect(found == nil)
    }

    @Test func aCancelledTakeMayEncodeLessButNeverMore() {
        for (frames, isBalanced) in [(15_000, true), (16_000, true), (16_001, false)] {
            let found = imbalance { account, circumstances in
                account.encodedFrames = frames
                circumstances.isEncodedWhole = false
            }
            #expect((found == nil) == isBalanced)
        }
    }

    @Test func aJournalThatLostItsEndMayHoldLessButNeverMore() {
        for (bytes, isBalanced) in [(44, true), (32_044, true), (32_045, false)] {
            let found = imbalance { account, circumstances in
                account.journaledBytes = bytes
                circumstances.isJournaledWhole = false
                circumstances.isSentWhole = false
            }
            #expect((found == nil) == isBalanced)
        }
    }

    @Test func anEmptyTakeIsBalanced() {
        let empty = TakeAccount(
            capturedFrames: 0, gapFrames: 0, encodedFrames: 0, encodedBytes: 0, journaledBytes: 0,
            bodyOffset: 44, sentBytes: 0, wireBytes: 0, sha256: "")
        #expect(empty.imbalance(TakeAccount.Circumstances()) == nil)
    }

    @Test func aTakeOfAnEarlierRunKnowsItsGapsByTheirSumAlone() {
        #expect(imbalance { _, circumstances in circumstances.listedGapFrames = nil } == nil)
    }
}
