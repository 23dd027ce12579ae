// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RecognitionEndpoint

@Suite struct FaultPlanTests {
    @Test func noItemsAreNoFaults() throws {
        #expect(try FaultPlan(parsing: "  ") == FaultPlan())
    }

    @Test func everyItemIsRead() throws {
        let plan = try FaultPlan(
            parsing: "status=429 after=32000 retry-after=5 stop-reading stall=3s delay=20ms "
                + "truncate-answer"
        )
        #expect(plan.byteCount == 32_000)
        #expect(plan.stall == .seconds(3))
        #expect(plan.delay == .milliseconds(20))
        #expect(plan.truncatesAnswer)
        let answer = FaultPlan.Answer(status: 429, retryAfter: 5, stopsReading: true)
        #expect(plan.action == .answer(answer))
    }

    @Test func aRedirectIs307UnlessAStatusIsGiven() throws {
        let url = "http://127.0.0.1:1/x?a=b"
        let plain = try FaultPlan(parsing: "redirect=\(url)")
        #expect(plain.action == .answer(FaultPlan.Answer(status: 307, location: url)))
        let permanent = try FaultPlan(parsing: "status=308 redirect=\(url)")
        #expect(permanent.action == .answer(FaultPlan.Answer(status: 308, location: url)))
    }

    @Test func closeAndResetAreActions() throws {
        #expect(try FaultPlan(parsing: "close after=1").action == .close)
        #expect(try FaultPlan(parsing: "reset").action == .reset)
    }

    @Test(arguments: [
        ("bang", "'bang': it is not known"),
        ("after", "'after': it has no value"),
        ("after=", "'after': it has no value"),
        ("after=-1", "'after': '-1' is not a number that is possible here"),
        (
            "after=99999999999999999999",
            "'after': '99999999999999999999' is not a number that is possible here"
        ),
        ("after=1 after=2", "'after': it is there twice"),
        ("status=100", "'status': '100' is not a number that is possible here"),
        ("stall=3", "'stall': '3' is not a time such as 2s or 50ms"),
        ("stall=s", "'stall': 's' is not a time such as 2s or 50ms"),
        ("close=1", "'close': it takes no value"),
        ("close reset", "'close': there are two endings"),
        ("close status=500", "'close': there are two endings"),
        ("retry-after=3", "'status': it is missing"),
    ])
    func whatIsNotUnderstoodIsNamed(text: String, reason: String) {
        do throws(FaultPlanError) {
            _ = try FaultPlan(parsing: text)
            Issue.record("'\(text)' was understood")
        } catch {
            #expect(error.description == "X-Misbehave: " + reason)
        }
    }
}
