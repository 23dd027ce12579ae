// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RecognitionEndpoint

@Suite struct AnswerLedgerTests {
    private func body(_ text: String) -> BodyIdentity {
        var body = BodyIdentity()
        body.add(Array(text.utf8).span)
        return body
    }

    private func answer(_ ledger: AnswerLedger, _ key: String, words: Int = 1) {
        guard case .new(let ticket, _) = ledger.admit(key, giveUp: {}) else { return }
        let word = RecognisedWord(text: "w", start: 0, end: 1, probability: 1)
        let recognition = Recognition(
            text: key, duration: 1, words: Array(repeating: word, count: words))
        ledger.commit(ticket, AnswerLedger.Answer(body: body("a"), recognition: recognition))
    }

    /// The text that was answered under a key; nil when that is forgotten.
    private func answered(_ ledger: AnswerLedger, _ key: String) -> String? {
        switch ledger.admit(key, giveUp: {}) {
        case .answered(let answer): return answer.recognition.text
        case .new(let ticket, _):
            ledger.abandon(ticket)
            return nil
        }
    }

    @Test func theOldestAnswersGiveWay() {
        let ledger = AnswerLedger()
        for number in 0..<AnswerLedger.answerLimit { answer(ledger, "\(number)") }
        #expect(answered(ledger, "0") == "0")
        answer(ledger, "new")
        #expect(answered(ledger, "0") == nil)
        #expect(answered(ledger, "1") == "1")
        #expect(answered(ledger, "new") == "new")
    }

    @Test func longAnswersGiveWaySooner() {
        let ledger = AnswerLedger()
        answer(ledger, "a", words: AnswerLedger.wordLimit / 2)
        answer(ledger, "b", words: AnswerLedger.wordLimit / 2 + 1)
        #expect(answered(ledger, "a") == nil)
        #expect(answered(ledger, "b") == "b")
        // The last one stays, however long it is.
        answer(ledger, "c", words: AnswerLedger.wordLimit * 2)
        #expect(answered(ledger, "c") == "c")
    }

    @Test func aRequestThatFailsLeavesItsKey() {
        let ledger = AnswerLedger()
        guard case .new(let ticket, takesPlace: false) = ledger.admit("k", giveUp: {}) else {
            Issue.record("a new key is known")
            return
        }
        ledger.abandon(ticket)
        guard case .new(_, takesPlace: false) = ledger.admit("k", giveUp: {}) else {
            Issue.record("a key whose request has failed is known")
            return
        }
    }

    @Test func aRequestWhoseSuccessorFailedCommits() {
        let ledger = AnswerLedger()
        guard case .new(let old, _) = ledger.admit("k", giveUp: {}),
            case .new(let new, _) = ledger.admit("k", giveUp: {})
        else {
            Issue.record("a request that is not answered holds its key")
            return
        }
        ledger.abandon(new)
        ledger.commit(
            old, AnswerLedger.Answer(body: body("a"), recognition: Recognition(text: "old")))
        #expect(answered(ledger, "k") == "old")
    }

    @Test func aRequestThatWasOvertakenCannotCommit() async {
        let ledger = AnswerLedger()
        await confirmation { isGivenUp in
            guard
                case .new(let old, takesPlace: false) = ledger.admit(
                    "k", giveUp: { isGivenUp() }),
                case .new(let new, takesPlace: true) = ledger.admit("k", giveUp: {})
            else {
                Issue.record("a request that is not answered holds its key")
                return
            }
            func commit(_ ticket: AnswerLedger.Ticket, _ text: String) {
                let recognition = Recognition(text: text)
                ledger.commit(
                    ticket, AnswerLedger.Answer(body: body(text), recognition: recognition))
            }
            commit(old, "old")
            ledger.abandon(old)
            commit(new, "new")
        }
        guard case .answered(let answer) = ledger.admit("k", giveUp: {}) else {
            Issue.record("an answer is forgotten")
            return
        }
        #expect(answer.recognition.text == "new")
        #expect(answer.body.isSame(as: body("new")))
        #expect(!answer.body.isSame(as: body("old")))
    }
}
