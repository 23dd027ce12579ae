// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RecognitionEndpoint

@Suite struct AnswerLedgerTests {
    private func body(_ number: UInt8) -> BodyIdentity {
        var body = BodyIdentity()
        body.add([number].span)
        return body
    }

    private func answer(_ ledger: AnswerLedger, _ key: String, words: Int = 1) {
        guard case .new(let ticket) = ledger.admit(key, giveUp: {}) else { return }
        _ = ledger.complete(ticket, body(1))
        let word = RecognisedWord(text: "w", start: 0, end: 1, probability: 1)
        ledger.commit(
            ticket,
            Recognition(text: key, duration: 1, words: Array(repeating: word, count: words)))
    }

    @Test func theLongestUnusedAnswersGiveWay() async {
        let ledger = AnswerLedger()
        for number in 0..<AnswerLedger.answerLimit { answer(ledger, "\(number)") }
        // Used again, so that it stays.
        #expect(await ledger.verdict("0", body(1)) == .replay(answered("0")))
        answer(ledger, "new")
        #expect(await ledger.verdict("0", body(1)) == .replay(answered("0")))
        #expect(await ledger.verdict("1", body(1)) == .gone)
        #expect(await ledger.verdict("2", body(1)) == .replay(answered("2")))
    }

    private func answered(_ key: String) -> Recognition {
        Recognition(
            text: key, duration: 1,
            words: [RecognisedWord(text: "w", start: 0, end: 1, probability: 1)])
    }

    @Test func longAnswersGiveWaySooner() async {
        let ledger = AnswerLedger()
        answer(ledger, "a", words: AnswerLedger.wordLimit / 2)
        answer(ledger, "b", words: AnswerLedger.wordLimit / 2 + 1)
        #expect(await ledger.verdict("a", body(1)) == .gone)
        #expect(await ledger.verdict("b", body(2)) == .conflict)
        // The last one stays, however long it is.
        answer(ledger, "c", words: AnswerLedger.wordLimit * 2)
        #expect(await ledger.verdict("c", body(2)) == .conflict)
    }

    @Test func whoWaitsForARequestThatFailsIsTold() async {
        let ledger = AnswerLedger()
        guard case .new(let ticket) = ledger.admit("k", giveUp: {}) else {
            Issue.record("a new key is known")
            return
        }
        #expect(ledger.complete(ticket, body(1)))
        guard case .known = ledger.admit("k", giveUp: {}) else {
            Issue.record("a key whose answer is being made is new")
            return
        }
        async let verdict = ledger.verdict("k", body(1))
        ledger.abandon(ticket)
        #expect(await verdict == .gone)
        guard case .new = ledger.admit("k", giveUp: {}) else {
            Issue.record("a key whose request has failed is known")
            return
        }
    }

    @Test func aRequestThatWasOvertakenCannotCommit() async {
        let ledger = AnswerLedger()
        guard case .new(let old) = ledger.admit("k", giveUp: {}),
            case .new(let new) = ledger.admit("k", giveUp: {})
        else {
            Issue.record("a body that is not whole holds its key")
            return
        }
        #expect(!ledger.complete(old, body(1)))
        // Of the same length, so that only the digest tells them apart.
        ledger.commit(old, Recognition(text: "old"))
        ledger.abandon(old)
        #expect(ledger.complete(new, body(2)))
        ledger.commit(new, Recognition(text: "new"))
        #expect(await ledger.verdict("k", body(2)) == .replay(Recognition(text: "new")))
        #expect(await ledger.verdict("k", body(1)) == .conflict)
    }
}
