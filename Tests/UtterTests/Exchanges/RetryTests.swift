// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter

@Suite struct RetryPolicyTests {
    private func pause(
        _ policy: RetryPolicy = .standard, failures: Int, afterRelease: Int = 0,
        isSpeaking: Bool = true, asked: Duration = .zero, jitter: Double = 0
    ) -> Duration? {
        policy.pause(
            failures: failures, failuresAfterRelease: afterRelease, isSpeaking: isSpeaking,
            asked: asked, jitter: jitter)
    }

    @Test func pausesGrowWhileSomebodySpeaks() {
        let pauses = (1...9).map { pause(failures: $0) }
        #expect(pauses == [0.25, 1, 4, 16, 45, 45, 45, 45, 45].map { .seconds($0) })
        #expect(pause(failures: Int.max) == .seconds(45))
    }

    @Test func whenTheMinutesAttemptsRunOutTheyAreSpared() {
        func pause(afterAttempts count: Int, isSpeaking: Bool = true) -> Duration? {
            RetryPolicy.standard.pause(
                failures: 1, failuresAfterRelease: isSpeaking ? 0 : 1, isSpeaking: isSpeaking,
                asked: .zero, jitter: 0, recentAges: (0..<count).map { .seconds($0 * 5) })
        }
        #expect(
            (3...8).map { pause(afterAttempts: $0) }
                == [0.25, 0.25, 2, 6, 30, 25].map { .seconds($0) })
        #expect(pause(afterAttempts: 7, isSpeaking: false) == .seconds(1))
        #expect(pause(afterAttempts: 8, isSpeaking: false) == nil)
    }

    @Test func afterTheReleaseThereAreThreeMore() {
        let pauses: [Duration?] = (1...4).map {
            pause(failures: $0, afterRelease: $0, isSpeaking: false)
        }
        #expect(pauses == [.seconds(1), .seconds(3), .seconds(9), nil])
    }

    @Test func jitterAddsUpToAQuarterAfterTheRelease() {
        let longest = pause(failures: 2, afterRelease: 2, isSpeaking: false, jitter: 1)
        #expect(longest == .milliseconds(3_750))
    }

    @Test func aLongRetryAfterIsWaitedForOnlyWhileSomebodySpeaks() {
        let asked = Duration.seconds(31)
        #expect(pause(failures: 1, asked: asked) != nil)
        #expect(pause(failures: 1, afterRelease: 1, isSpeaking: false, asked: asked) == nil)
        #expect(
            pause(failures: 1, afterRelease: 1, isSpeaking: false, asked: .seconds(30)) != nil)
    }

    @Test func neverMeansNever() {
        #expect(pause(.never, failures: 1) == nil)
        #expect(pause(.never, failures: 1, afterRelease: 1, isSpeaking: false) == nil)
    }
}

/// A service that is busy, and says in every possible way when to come back (RFC 9110 §10.2.3).
@Suite struct RetryAfterTests {
    /// What a busy service says, and what we make of it.
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var status = 503
        var values: [String] = []
        /// The least wait, in seconds; nil when the take is kept because it is too long.
        var wait: Double?
        /// How a person is told that it is too long.
        var asked = ""
        /// How often the service is busy.
        var times = 1
        var testDescription: String { name }
    }

    /// Both statuses, for a wait and for one that is too long.
    static let cases: [Case] = [
        Case(name: "seconds", status: 429, values: ["1"], wait: 1),
        Case(name: "a date that is over", values: ["Sun, 06 Nov 1994 08:49:37 GMT"], wait: 0),
        Case(
            name: "a date that is far", values: ["Fri, 31 Dec 9999 23:59:59 GMT"],
            asked: "more than a year"),
        Case(name: "negative", status: 429, values: ["-5"], wait: 0),
        Case(name: "huge", status: 429, values: ["99999"], asked: "27 h 47 min"),
        Case(name: "10^18", values: ["1000000000000000000"], asked: "more than a year"),
        Case(name: "nonsense", values: ["after lunch"], wait: 0),
        Case(name: "empty", values: [""], wait: 0),
        Case(name: "doubled", values: ["99999", "1"], wait: 1),
        Case(name: "none", status: 429, wait: 0),
        Case(name: "none, twice", wait: 0, times: 2),
    ]

    @Test(arguments: cases) func theWaitIsObeyedIfItIsOne(_ test: Case) async throws {
        let status = test.status
        let bench = try FaultBench(byteCount: 4_000)
        let fields = test.values.map { TestSupport.HeaderField("Retry-After", $0) }
        let server = try RecordingServer(
            scripts: Array(
                repeating: .answer(status: status, headers: fields, text: "busy"),
                count: test.times),
            otherwise: bench.ledger.script)
        let outcome = await bench.start(try bench.plan(to: server.url())).outcome
        guard let wait = test.wait else {
            #expect(server.requests.count == 1)
            let words = "busy; it asks to wait \(test.asked)"
            #expect(outcome.result == .failure(.unavailable(status: status, message: words)))
            return
        }
        #expect(bench.complaint(outcome) == nil)
        #expect(!outcome.mayBeDoubled)
        let busy = Array(repeating: status as Int?, count: test.times)
        #expect(outcome.attempts.map(\.result.status) == busy + [200])
        let requests = server.requests
        #expect(requests.count == test.times + 1)
        let answered = try #require(requests.first?.sentAt.last)
        let again = try #require(requests.last?.acceptedAt)
        #expect(again - answered >= .seconds(wait))
    }
}
