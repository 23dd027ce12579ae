// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// A person is told of the longest recording that a service takes.
@Suite struct LimitTests {
    /// A place with a microphone, and a service of these limits.
    private func bench(_ limits: String) throws -> Bench {
        let server = try RecordingServer.hearing("heard")
        let bench = try Bench(server: server, microphone: VirtualMicrophone())
        try bench.writeProfile(
            "url = '\(server.url())'\nformats = [{ codec = 'pcm' }]\nstretches.enabled = false\n[limits]\n\(limits)",
            to: "small")
        return bench
    }

    @Test func aVoiceIsStoppedAndSentAtTheLimit() async throws {
        let bench = try bench("seconds = 0.5")
        let result = try await bench.run("--service", "small")
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        let text = "the recording ends and is sent: the service takes 0.5 s at most"
        #expect(result.errorText.contains(text), "\(result.errorText)")
        #expect(bench.requests.first?.body == VirtualMicrophone.pcm(8_000))
    }

    @Test func aPersonIsWarnedTenSecondsBefore() async throws {
        let run = try bench("seconds = 10.4").start(["--service", "small"])
        #expect(await run.wait(for: "are left: the service takes 10.4 s at most", in: .error))
        run.signal(2)
        let result = try await run.result()
        #expect(result.errorText.ranges(of: "are left").count == 1, "\(result.errorText)")
    }
}
