// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import Cryptography
@testable import Utter

/// What a service commits is what we have logged: no resend is hidden, and none unmarked.
@Suite struct CommitTests {
    /// Sends takes one after another, `width` at a time, through one pipeline and one proxy.
    private func deliver(
        _ count: Int, by bench: FaultBench, through proxy: FaultProxy, width: Int = 10
    ) async throws -> [TakeOutcome] {
        var retry = FaultBench.quick
        // Faults come in rows: what is tested is that nothing is lost and all is said.
        retry.pausesAfterRelease = (0..<7).map { _ in .milliseconds(5) }
        let plan = try bench.plan(proxy, retry: retry)
        var outcomes: [TakeOutcome] = []
        for start in stride(from: 0, to: count, by: width) {
            let takes = (start..<min(count, start + width)).map { _ in bench.start(plan) }
            for take in takes { outcomes.append(await take.outcome) }
        }
        return outcomes
    }

    @Test func everyTakeIsCommittedOnceThoughAnswersAndConnectionsAreLost() async throws {
        let random = Observed(SeededRandom())
        let seed = random.value.seed
        let bench = try FaultBench(byteCount: 4_000)
        let proxy = try FaultProxy(to: bench.server.port) {
            random.update { random in
                switch Int.random(in: 0..<100, using: &random) {
                case 0..<40: LinkPlan(.lostAnswer)
                case 40..<70:
                    LinkPlan(
                        LinkFault(.reset, .toService, at: .random(in: 0..<4_300, using: &random)))
                default: .clean
                }
            }
        }
        var outcomes = try await deliver(100, by: bench, through: proxy)
        // A take that fails eight times in a row is kept, and sent like any kept take.
        let clean = try FaultProxy(to: bench.server.port)
        for index in outcomes.indices {
            guard case .failure(let failure) = outcomes[index].result else { continue }
            #expect(outcomes[index].attempts.count == 8, "\(failure), seed \(seed)")
            let again = try await bench.resend(outcomes[index], by: bench.plan(clean))
            let before = outcomes[index].attempts
            outcomes[index] = again
            outcomes[index].attempts = before + again.attempts
        }
        for outcome in outcomes {
            let complaint = bench.complaint(outcome)
            #expect(complaint == nil, "seed \(seed)")
        }
        // The service never saw an attempt that was not logged, nor one number twice.
        let numbers = bench.server.requests.compactMap { request in
            request["Idempotency-Key"].map { "\($0) \(request["Utter-Attempt"] ?? "-")" }
        }
        #expect(Set(numbers).count == numbers.count, "seed \(seed)")
    }

    @Test func commitsAreTheWholeAttemptsThatWereLogged() async throws {
        let bench = try FaultBench(byteCount: 4_000)
        let losses = Observed(0)
        let proxy = try FaultProxy(to: bench.server.port) {
            // Two answers in three are lost.
            losses.update { number in
                number += 1
                return number % 3 == 0 ? .clean : LinkPlan(.lostAnswer)
            }
        }
        let outcomes = try await deliver(30, by: bench, through: proxy, width: 1)
        for outcome in outcomes {
            #expect(bench.complaint(outcome) == nil)
            let whole = outcome.attempts.filter { $0.result.isBodyComplete }.map { "\($0.number)" }
            let committed = bench.ledger.entries.first { $0.id == "\"\(outcome.id.text)\"" }
            #expect(committed?.attempts == whole)
            #expect(outcome.mayBeDoubled == (whole.count > 1))
        }
        #expect(bench.ledger.entries.count == 30)
        #expect(bench.server.requests.count == outcomes.reduce(0) { $0 + $1.attempts.count })
    }

    @Test func aResendOfACompleteTakeCarriesItsHash() async throws {
        let bench = try FaultBench(byteCount: 4_000)
        let proxy = try FaultProxy(
            to: bench.server.port, plans: [LinkPlan(.lostAnswer), LinkPlan(.lostAnswer)])
        var plan = try bench.plan(proxy)
        plan.idHeader = "X-Take"
        plan.retry.pausesAfterRelease = [.milliseconds(300), .milliseconds(300)]
        let outcome = await bench.start(plan).outcome
        #expect(throws: Never.self) { try outcome.result.get() }
        let requests = bench.server.requests
        #expect(requests.count == 3)
        #expect(requests.allSatisfy { $0["X-Take"] == outcome.id.text })
        #expect(requests.allSatisfy { $0["Idempotency-Key"] == nil })
        let samples = bench.samples
        var sum = SHA256()
        sum.update(samples.span)
        let digest = "sha-256=:\(Data(sum.bytes).base64EncodedString()):"
        #expect(requests.first?["Content-Digest"] == nil)
        #expect(requests.last?["Content-Digest"] == digest)
    }

    @Test func aLaterRunGoesOnCountingAndSaysThatItSendsTwice() async throws {
        let bench = try FaultBench(byteCount: 4_000)
        let proxy = try FaultProxy(to: bench.server.port, plans: [LinkPlan(.lostAnswer)])
        var plan = try bench.plan(proxy)
        plan.retry.unknownOutcome = .keep
        let first = await bench.start(plan).outcome
        #expect(first.isUnknown)
        #expect(!first.mayBeDoubled)
        let second = try await bench.resend(first, by: plan)
        #expect(second.attempts.map(\.number) == [2])
        #expect(second.mayBeDoubled)
        #expect(bench.ledger.entries.map(\.attempts) == [["1", "2"]])
        #expect(bench.server.requests.last?["Content-Digest"] != nil)
    }
}
