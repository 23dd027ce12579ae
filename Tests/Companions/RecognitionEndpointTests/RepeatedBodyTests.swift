// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import RecognitionEndpoint

/// A recording that comes again: recognised once, and never mistaken for another one.
@Suite struct RepeatedBodyTests {
    private let audio: [UInt8]

    init() throws { audio = try Samples.pcm("go-forward") }

    private static let pcm = "audio/pcm;rate=16000;channels=1"

    private func post(
        _ audio: [UInt8], key: String?, accept: String = "text/plain", to port: Int,
        fields: [String] = []
    ) async throws -> (head: RawClient.Head, body: String) {
        try await TestEndpoint.post(
            audio, type: Self.pcm, accept: accept, to: port,
            fields: (key.map { ["Idempotency-Key: \($0)"] } ?? []) + fields)
    }

    /// A client that has sent the head of a request with a key.
    private static func begin(
        _ key: String, _ fields: [String] = [], to port: Int
    ) throws -> RawClient {
        let client = try RawClient(port: port)
        try client.sendHead(
            "/recognize", ["Content-Type: \(pcm)", "Idempotency-Key: \(key)"] + fields)
        return client
    }

    @Test func theSameBodyGetsTheSameAnswerInAnyFormAndAnotherNone() async throws {
        try await TestEndpoint.run { port, _ in
            let first = try await post(audio, key: "\"a\"", to: port)
            #expect(first.head.fields["idempotent-replayed"] == nil)
            for accept in ["text/plain", "application/json", "application/x-ndjson"] {
                let again = try await post(audio, key: "\"a\"", accept: accept, to: port)
                #expect(again.head.status == 200)
                #expect(again.head.fields["idempotent-replayed"] == "true")
                #expect(again.body.contains("go forward ten meters"))
            }
            // Another key, and none, are other recordings.
            for key in ["\"b\"", nil] {
                let other = try await post(audio, key: key, to: port)
                #expect(other.head.fields["idempotent-replayed"] == nil)
                #expect(other.body == first.body)
            }
            var changed = audio
            changed[40_000] ^= 1
            for other in [changed, Array(audio.dropLast(2)), audio + [0, 0], []] {
                let answer = try await post(other, key: "\"a\"", to: port)
                #expect(answer.head.status == 422)
            }
            // The answer is still there for the right one.
            #expect(try await post(audio, key: "\"a\"", to: port).head.status == 200)
        }
    }

    @Test func aBodyIsCommittedOnceAndWhole() async throws {
        try await TestEndpoint.run { port, _ in
            for cut in [0, 1, 32_000, audio.count] {
                try await onThread {
                    let client = try Self.begin("cut", to: port)
                    if cut > 0 { try client.sendChunk(audio.prefix(cut)) }
                    // Everything but the last chunk.
                    client.endSending()
                    // Whether it is refused or reset does not matter here.
                    _ = try? client.readToEnd()
                }
            }
            let whole = try await post(audio, key: "cut", to: port)
            #expect(whole.head.status == 200)
            #expect(whole.head.fields["idempotent-replayed"] == nil)
            #expect(whole.body == "go forward ten meters\n")

            // Requests that come together are recognised once.
            try await withThrowingTaskGroup(of: (RawClient.Head, String).self) { tasks in
                for _ in 0..<6 {
                    tasks.addTask {
                        let answer = try await self.post(audio, key: "k", to: port)
                        return (answer.head, answer.body)
                    }
                }
                var fresh = 0
                for try await (head, body) in tasks {
                    // A request that another has overtaken is told so, and may come again.
                    guard head.status == 200 else {
                        #expect([409, 503].contains(head.status))
                        continue
                    }
                    #expect(body == "go forward ten meters\n")
                    if head.fields["idempotent-replayed"] == nil { fresh += 1 }
                }
                #expect(fresh == 1)
            }
            let last = try await post(audio, key: "k", to: port)
            #expect(last.head.fields["idempotent-replayed"] == "true")
        }
    }

    @Test func whoeverComesAgainTakesThePlaceOfARequestThatIsNotWhole() async throws {
        try await TestEndpoint.run({ $0.maximumConcurrentRecognitions = 1 }) { port, _ in
            let stuck = try await onThread {
                let client = try Self.begin(
                    "k", ["Accept: text/plain", "Expect: 100-continue"], to: port)
                // It has been let in, and has the only recogniser.
                #expect(try client.readHead().status == 100)
                try client.sendChunk(audio.prefix(32_000))
                return client
            }
            let answer = try await post(audio, key: "k", to: port)
            #expect(answer.head.status == 200)
            #expect(answer.head.fields["idempotent-replayed"] == nil)
            let old = try await onThread { try stuck.readAnswer() }
            #expect(old.head.status == 409)
            // And its key still has the answer.
            let again = try await post(audio, key: "k", to: port)
            #expect(again.head.fields["idempotent-replayed"] == "true")
        }
    }

    @Test(.spec("RFC 9110 §10.1.1"))
    func aBodyThatIsHeldBackIsAskedForOnlyWhenItIsWanted() async throws {
        try await TestEndpoint.run({ $0.allowsFaults = true }) { port, _ in
            // Recognised, known already, and read by a request that misbehaves.
            for (plan, status) in [("", 200), ("", 200), ("after=1000 status=503", 503)] {
                try await onThread {
                    let client = try Self.begin(
                        "held", ["Expect: 100-Continue", "X-Misbehave: \(plan)"], to: port)
                    #expect(try client.readHead().status == 100)
                    try client.sendEnd(audio)
                    #expect(try client.readAnswer().head.status == status)
                }
            }
            let refused = try await onThread {
                let client = try RawClient(port: port)
                try client.sendHead(
                    "/recognize", ["Content-Type: text/html", "Expect: 100-continue"])
                return try client.readHead().status
            }
            #expect(refused == 415)
        }
    }

    @Test func aLostAnswerIsKept() async throws {
        try await TestEndpoint.run({ $0.allowsFaults = true }) { port, _ in
            try await onThread {
                let client = try Self.begin(
                    "k", ["Accept: application/json", "X-Misbehave: truncate-answer"], to: port)
                try client.sendEnd(audio)
                // Half of the answer comes.
                _ = try? client.readToEnd()
            }
            let again = try await post(audio, key: "k", to: port)
            #expect(again.head.fields["idempotent-replayed"] == "true")
            #expect(again.body == "go forward ten meters\n")
        }
    }

    @Test func aDigestIsChecked() async throws {
        let silence = [UInt8](repeating: 0, count: 3_200)
        // `openssl dgst -sha256 -binary | base64` has made it.
        let digest = "WjEigd9L2N+7TUqUrQv0TQG7jPztEga5DiG0ygVozbE="
        try await TestEndpoint.run(TestEndpoint.withoutSound) { port, _ in
            let right = try await post(
                silence, key: "d", to: port, fields: ["Content-Digest: sha-256=:\(digest):"])
            #expect(right.head.status == 200)
            for key in ["d", "e"] {
                let wrong = try await post(
                    silence + [0, 0], key: key, to: port,
                    fields: ["Content-Digest: sha-256=:\(digest):"])
                #expect(wrong.head.status == 400)
                #expect(wrong.body.contains("Content-Digest"))
            }
            let other = try await post(
                silence, key: "f", to: port, fields: ["Content-Digest: sha-512=:AAAA:"])
            #expect(other.head.status == 200)
        }
    }

    @Test func aKeyThatIsNoneIsRefused() async throws {
        try await TestEndpoint.run(TestEndpoint.withoutSound) { port, _ in
            for key in ["", String(repeating: "k", count: 256)] {
                let answer = try await post([0, 0], key: key, to: port)
                #expect(answer.head.status == 400, "\(key)")
            }
        }
    }
}

@Suite struct AnswerLedgerTests {
    private func body(_ number: UInt8) -> BodyIdentity {
        var body = BodyIdentity()
        body.add([number].span)
        return body
    }

    /// The ticket of a key that is new.
    private func admit(_ key: String, to ledger: AnswerLedger) -> AnswerLedger.Ticket? {
        guard case .new(let ticket) = ledger.admit(key, giveUp: {}) else { return nil }
        return ticket
    }

    private func answer(_ ledger: AnswerLedger, _ key: String, words: Int = 1) {
        guard let ticket = admit(key, to: ledger) else { return }
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

    @Test func whoWaitsForARequestThatFailsIsTold() async throws {
        let ledger = AnswerLedger()
        let ticket = try #require(admit("k", to: ledger))
        #expect(ledger.complete(ticket, body(1)))
        #expect(admit("k", to: ledger) == nil)
        async let verdict = ledger.verdict("k", body(1))
        ledger.abandon(ticket)
        #expect(await verdict == .gone)
        #expect(admit("k", to: ledger) != nil)
    }

    @Test func aRequestThatWasOvertakenCannotCommit() async throws {
        let ledger = AnswerLedger()
        let old = try #require(admit("k", to: ledger))
        // A body that is not whole does not hold its key.
        let new = try #require(admit("k", to: ledger))
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
