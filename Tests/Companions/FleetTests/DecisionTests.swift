// SPDX-License-Identifier: Apache-2.0

import Testing
import Utter

@testable import Fleet

struct DecisionTests {
    private func blame(_ failure: TakeFailure) -> TakeDecision.Blame? {
        guard case .again(_, _, let blame) = TakeDecision(failure, asked: .zero) else { return nil }
        return blame
    }

    @Test func whatTheServiceWillNeverTakeIsADeath() {
        let failures: [TakeFailure] =
            [400, 413, 415, 422].map { .refused(status: $0, message: nil) } + [
                .capture(.unusableAudio(name: "a", detail: "b")), .capture(.noSound(name: "a")),
                .outsideLimits(reason: "long"), .tooShort(.zero),
            ]
        for failure in failures {
            #expect(TakeDecision(failure, asked: .zero) == .death(reason: failure.description))
        }
    }

    /// Which failures are said of the service, of the account and of the take.
    @Test func whatMayPassIsBlamedOnWhatItMayBe() {
        let failures: [TakeDecision.Blame: [TakeFailure]] = [
            .nothing: [
                .unavailable(status: 429, message: nil), .unavailable(status: 502, message: nil),
                .unavailable(status: 503, message: nil), .unavailable(status: 504, message: nil),
                .notDelivered(.cannotConnect("x"), host: "h"),
                .notDelivered(.cannotResolve("x"), host: "h"),
                .notDelivered(.timedOut(.connect), host: "h"), .journal(reason: "full"),
            ],
            .account: [
                .refused(status: 404, message: nil), .refused(status: 405, message: nil),
                .tokenRefused(status: 401, message: nil),
                .tokenRefused(status: 403, message: nil), .secretMissing(reason: "x"),
                .insecure(reason: "x", host: "h"),
            ],
            .take: [
                .unavailable(status: 500, message: nil), .refused(status: 409, message: nil),
                .notDelivered(.connectionLost("x"), host: "h"),
                .notDelivered(.timedOut(.answer), host: "h"), .responseUnusable(reason: "x"),
            ],
        ]
        for (expected, failures) in failures {
            for failure in failures { #expect(blame(failure) == expected, "\(failure)") }
        }
    }

    private func note(_ outcome: String?, isForgiven: Bool = false) -> AttemptNote {
        var note = AttemptNote(worker: "w")
        if let outcome { note.end(outcome, "why") }
        note.isForgiven = isForgiven ? true : nil
        return note
    }

    @Test func fiveFailuresAreADeath() {
        var history = TakeHistory(attempts: [:])
        #expect(history.nextNumber == 1)
        for number in 1...4 { history.attempts[number] = note("failed") }
        history.attempts[5] = note("given back", isForgiven: true)
        #expect(history.death(limit: 5) == nil)
        #expect(history.nextNumber == 6)
        history.attempts[6] = note("failed")
        #expect(history.death(limit: 5) == "given up after 5 tries: why")
        history.forgiven = 6
        #expect(history.death(limit: 5) == nil && history.failures == 0)
    }

    @Test func aWorkerThatDiedCountsHalf() {
        var history = TakeHistory(attempts: [:])
        for number in 1...9 { history.attempts[number] = note(nil) }
        #expect(history.death(limit: 5) == nil)
        history.attempts[10] = note(nil)
        #expect(history.death(limit: 5)?.hasPrefix("given up after 10 tries") == true)
    }

    @Test func pausesGrowUpToFiveMinutesAndHeedWhatIsAsked() {
        #expect(TakeHistory.pause(after: 1, asked: .zero, share: 1) == .seconds(1))
        #expect(TakeHistory.pause(after: 4, asked: .zero, share: 0) == .seconds(4))
        #expect(TakeHistory.pause(after: 99, asked: .zero, share: 1) == .seconds(300))
        #expect(TakeHistory.pause(after: 1, asked: .seconds(77), share: 0) == .seconds(77))
        var backoff = Backoff(from: .seconds(1), to: .seconds(5))
        let pauses = (0..<4).map { _ in backoff.next(share: 1) }
        #expect(pauses == [.seconds(1), .seconds(2), .seconds(4), .seconds(5)])
    }
}
