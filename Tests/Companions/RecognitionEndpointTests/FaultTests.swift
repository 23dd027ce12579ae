// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RecognitionEndpoint

/// What `X-Misbehave` does.
@Suite struct FaultTests {
    private func run(
        _ plan: String, _ body: @escaping @Sendable (RawClient) throws -> Void
    ) async throws {
        try await TestEndpoint.serve {
            $0.allowsFaults = true
            $0.shutdownGracePeriod = .milliseconds(500)
        } _: { client in
            try client.sendHead(
                "/recognize",
                ["Content-Type: audio/pcm", "Accept: text/plain", "X-Misbehave: \(plan)"])
            try body(client)
        }
    }

    @Test func aStatusAfterSoManyBytes() async throws {
        try await run("status=503 after=32000") { client in
            try client.sendChunk([UInt8](repeating: 0, count: 31_999))
            try client.sendChunk([0])
            let answer = try client.readAnswer()
            #expect(answer.head.status == 503)
            #expect(answer.head.fields["connection"] == "close")
        }
    }

    @Test func aStatusAtTheEndKeepsTheConnection() async throws {
        try await run("status=500 after=99999") { client in
            try client.sendEnd([0, 0])
            let answer = try client.readAnswer()
            #expect(answer.head.status == 500)
            #expect(answer.head.fields["connection"] == nil)
        }
    }

    @Test func aCloseAfterTheWholeBodyWithoutAnAnswer() async throws {
        try await run("close after=99999") { client in
            try client.sendEnd([0, 0])
            #expect(try client.readToEnd() == [])
        }
    }

    @Test func aCutAnswerHasNoEnd() async throws {
        try await run("truncate-answer") { client in
            try client.sendEnd(Samples.pcm("go-forward"))
            let received = try client.readTextToEnd()
            #expect(received.contains("go forward"))
            #expect(!received.contains("meters"))
            #expect(!received.hasSuffix("0\r\n\r\n"))
        }
    }

    @Test func aPlanThatIsNotUnderstoodIs400() async throws {
        try await run("explode") { client in
            let answer = try client.readAnswer()
            #expect(answer.head.status == 400)
            #expect(answer.body.contains("X-Misbehave: 'explode': it is not known"))
        }
    }

    @Test func anEndpointThatAllowsNoFaultsBehaves() async throws {
        let answer = try await TestEndpoint.answer(
            [], type: "audio/pcm", fields: ["X-Misbehave: status=500"])
        #expect(answer.head.status == 200)
    }
}

@Suite struct FaultPlanTests {
    @Test func everyItemIsRead() throws {
        #expect(try FaultPlan(parsing: "  ") == FaultPlan())
        #expect(try FaultPlan(parsing: "close after=1").action == .close)
        let plan = try FaultPlan(parsing: "status=429 after=32000 truncate-answer")
        #expect(plan.byteCount == 32_000)
        #expect(plan.truncatesAnswer)
        #expect(plan.action == .answer(status: 429))
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
        let error = #expect(throws: Refusal.self) { try FaultPlan(parsing: text) }
        #expect(error?.message == "X-Misbehave: " + reason)
    }
}
