// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RecognitionEndpoint

@Suite struct FaultPlanTests {
    @Test func noItemsAreNoFaults() throws {
        #expect(try FaultPlan(parsing: "  ") == FaultPlan())
    }

    @Test func everyItemIsRead() throws {
        let plan = try FaultPlan(parsing: "status=429 after=32000 truncate-answer")
        #expect(plan.byteCount == 32_000)
        #expect(plan.truncatesAnswer)
        #expect(plan.action == .answer(status: 429))
    }

    @Test func closeIsAnAction() throws {
        #expect(try FaultPlan(parsing: "close after=1").action == .close)
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
        ("stall=3s", "'stall': it is not known"),
        ("close=1", "'close': it takes no value"),
        ("close status=500", "'close': there are two endings"),
    ])
    func whatIsNotUnderstoodIsNamed(text: String, reason: String) {
        do throws(Refusal) {
            _ = try FaultPlan(parsing: text)
            Issue.record("'\(text)' was understood")
        } catch {
            #expect(error.message == "X-Misbehave: " + reason)
        }
    }
}
