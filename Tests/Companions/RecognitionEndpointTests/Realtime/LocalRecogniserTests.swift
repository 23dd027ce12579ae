// SPDX-License-Identifier: Apache-2.0

import LinuxPlatform
import TestSupport
import Testing

@testable import RecognitionEndpoint

/// The recogniser of a desktop, at a Unix socket.
@Suite(.timeLimit(.minutes(5))) struct LocalRecogniserTests {
    @Test func itSaysHowItFaresAndWhatMayChangeAndServesHTTP() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/recogniser"
        let socket = try LocalSocket.listen(at: path)
        try await TestEndpoint.run {
            $0.bearerToken = BearerToken("for others")
            $0.listen(at: socket.number)
        } _: { _, _ in
            let client = try SocketClient("unix:\(path)")
            try client.say()
            let messages = try await client.messages(until: "completed")
            #expect(messages[0].session?.type == "realtime")
            #expect(messages[0].session?.audio.input.format.rate == 16_000)
            #expect(messages[1].state == "ready")
            #expect(messages.contains { $0.snippet?.hasPrefix("go") == true })
            let text = messages.last { $0.kind == "completed" }?.transcript
            #expect(text == "go forward ten meters")
            // Both sides pass over messages that they do not know.
            try client.send(#"{"type":"of.the.future"}"#)
            try client.say()
            let all = try await client.messages(until: "completed", 2)
            #expect(!all.contains { $0.kind == "error" })
            // Another model is refused.
            let other = try SocketClient("unix:\(path)")
            try other.update(#","transcription":{"model":"whisper-large"}"#)
            let refusal = try await other.messages(until: "end")
            #expect(refusal.contains { $0.error?.code == "invalid_parameter" })
            #expect(refusal.last?.closed == 1008)
            let result = try await CommandRun.run(
                "curl", ["-s", "--unix-socket", path, "http://localhost/healthz"])
            #expect(result.outputText.contains(#""status":"ok""#))
        }
        withExtendedLifetime(folder) {}
    }
}
