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
            try client.sendChunk([0, 0])
            try client.sendEnd()
            let answer = try client.readAnswer()
            #expect(answer.head.status == 500)
            #expect(answer.head.fields["connection"] == nil)
        }
    }

    @Test func aCloseAfterTheWholeBodyWithoutAnAnswer() async throws {
        try await run("close after=99999") { client in
            try client.sendChunk([0, 0])
            try client.sendEnd()
            #expect(try client.readToEnd() == [])
        }
    }

    @Test func aCutAnswerHasNoEnd() async throws {
        try await run("truncate-answer") { client in
            try client.sendChunk(try Samples.pcm("go-forward"))
            try client.sendEnd()
            let received = String(decoding: try client.readToEnd(), as: UTF8.self)
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
