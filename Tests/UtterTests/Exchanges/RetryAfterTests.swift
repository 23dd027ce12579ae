// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter

/// A service that is busy, and says in every possible way when to come back (RFC 9110 §10.2.3).
@Suite struct RetryAfterTests {
    /// What a busy service says, and what we make of it.
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var values: [String]
        /// The least wait, in seconds; nil when the take is kept because it is too long.
        var wait: Double?
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "seconds", values: ["1"], wait: 1),
        Case(
            name: "a date that is over",
            values: ["Sun, 06 Nov 1994 08:49:37 GMT"], wait: 0),
        Case(
            name: "a date that is far",
            values: ["Fri, 31 Dec 9999 23:59:59 GMT"]),
        Case(name: "negative", values: ["-5"], wait: 0),
        Case(name: "huge", values: ["99999"]),
        Case(name: "10^18", values: ["1000000000000000000"]),
        Case(name: "nonsense", values: ["after lunch"], wait: 0),
        Case(name: "empty", values: [""], wait: 0),
        Case(
            name: "doubled",
            values: ["99999", "1"],
            wait: 1),
        Case(name: "none", values: [], wait: 0),
    ]

    @Test(arguments: cases, [429, 503])
    func theWaitIsObeyedIfItIsOne(_ test: Case, status: Int) async throws {
        let bench = try FaultBench(byteCount: 4_000)
        let busy: [ServerStep] = [
            .readHead, .readBodyToEnd,
            .respond(
                status: status,
                headers: test.values.map { TestSupport.HeaderField("Retry-After", $0) },
                text: "busy"),
        ]
        let server = try RecordingServer(scripts: [busy], otherwise: bench.ledger.script)
        let plan = try bench.plan(to: server.url())
        let outcome = await bench.start(plan).outcome
        guard let wait = test.wait else {
            #expect(server.requests.count == 1)
            guard case .failure(let failure) = outcome.result else {
                Issue.record("\(outcome.result)")
                return
            }
            #expect(
                failure
                    == .unavailable(status: status, message: "busy; it asks to wait 60 min"))
            return
        }
        #expect(bench.complaint(outcome) == nil)
        #expect(!outcome.mayBeDoubled)
        let requests = server.requests
        #expect(requests.count == 2)
        let answered = try #require(requests.first?.sentAt.last)
        let again = try #require(requests.last?.acceptedAt)
        #expect(again - answered >= .seconds(wait))
    }

    @Test func busyTwiceAndThenThereIsFine() async throws {
        let bench = try FaultBench(byteCount: 4_000)
        let busy = [ServerStep].answer(status: 503, text: "busy")
        let server = try RecordingServer(scripts: [busy, busy], otherwise: bench.ledger.script)
        let plan = try bench.plan(to: server.url())
        let outcome = await bench.start(plan).outcome
        #expect(bench.complaint(outcome) == nil)
        #expect(outcome.attempts.map(\.result.status) == [503, 503, 200])
        #expect(!outcome.mayBeDoubled)
    }

    /// The issue is strict: of 4xx only 408, 425 and 429 are tried again.
    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 599])
    func whatTimeMayCureIsTriedAgain(status: Int) async throws {
        let bench = try FaultBench(byteCount: 4_000)
        let server = try RecordingServer(
            scripts: [.answer(status: status, text: "no")], otherwise: bench.ledger.script)
        let plan = try bench.plan(to: server.url())
        #expect(bench.complaint(await bench.start(plan).outcome) == nil)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [400, 404, 405, 409, 410, 413, 415, 421, 422, 423, 501, 505])
    func whatTimeCannotCureIsKept(status: Int) async throws {
        let bench = try FaultBench(byteCount: 4_000)
        let server = try RecordingServer(otherwise: .answer(status: status, text: "no"))
        let plan = try bench.plan(to: server.url())
        let outcome = await bench.start(plan).outcome
        guard case .failure(.refused(status, _, _)) = outcome.result else {
            Issue.record("\(outcome.result)")
            return
        }
        #expect(server.requests.count == 1)
        #expect(outcome.takenCount == 0)
    }

    /// The service has said what it wants to say; what is still spoken is sent all the same.
    @Test func anAnswerBeforeTheEndDoesNotStopTheAudio() async throws {
        let bench = try FaultBench(byteCount: 64_000)
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBody(bytes: 16_000), .respond(status: 200, text: "early"),
            ])
        let outcome = await bench.start(try bench.plan(to: server.url()), pace: .realTime).outcome
        // The connection stays open, but what was answered then cannot be an answer to all.
        #expect(try outcome.result.get().text == "early")
        #expect(outcome.attempts.count == 2)
        #expect(outcome.attempts.first?.result.isBodyComplete == false)
        #expect(outcome.account.capturedFrames == 32_000)
        let requests = server.requests
        #expect(requests.first?["Transfer-Encoding"] == "chunked")
        #expect(requests.last?["Content-Length"] == "64000")
    }

    @Test func anAnswerThatEndsTheConnectionBeforeTheEndIsSaid() async throws {
        let bench = try FaultBench(byteCount: 64_000)
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBody(bytes: 16_000),
                .respond(
                    status: 200, headers: [TestSupport.HeaderField("Connection", "close")],
                    text: "early"), .close,
            ])
        var plan = try bench.plan(to: server.url())
        plan.framing = .chunked
        let outcome = await bench.start(plan, pace: .realTime).outcome
        #expect(try outcome.result.get().text == "early")
        #expect(outcome.account.capturedFrames == 32_000)
        #expect(outcome.attempts.map(\.result.isBodyComplete) == [false])
        #expect(outcome.takenCount == 0)
        #expect(outcome.audioPath != nil)
        #expect(outcome.shortfall?.hasPrefix("the service answered when it had ") == true)
    }
}
