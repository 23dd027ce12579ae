// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A command that prints a token, while the voice is recorded.
@Suite struct TokenCommandTests {
    /// A file of fields that is a pipe hangs meanwhile.
    @Test func theVoiceIsRecordedWhileASecretTakesItsTime() async throws {
        let bench = try Bench(server: .hearing("open"), microphone: VirtualMicrophone())
        let pipe = bench.folder.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let run = try bench.start(["--for", "500ms", "--events", "-H", "@\(pipe)"])
        #expect(await run.wait(for: "\"captured\"", in: .output))
        #expect(bench.requests.isEmpty)
        let text = "X-Key: sesame\nX-Model: large\n"
        await onOwnThread {
            let writing = open(pipe, O_WRONLY | O_CLOEXEC)
            _ = write(writing, text, text.utf8.count)
            close(writing)
        }
        let result = try await run.result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        let request = try #require(await bench.server?.finishedRequest())
        #expect(request["X-Key"] == "sesame")
        #expect(request["X-Model"] == "large")
        #expect(request.body.count == 16_000)
    }

    @Test(
        arguments: [
            ("--token-command", "Bearer horse battery staple", "audio.wav"),
            ("--encrypt-key-command", nil, "audio.wav.encrypted"),
        ] as [(String, String?, String)])
    func theCommandAsksThePersonWhoSpeaks(
        _ option: String, _ token: String?, _ audio: String
    ) async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("open"))
        let bench = try Bench(server: server, microphone: card)
        let terminal = try PseudoTerminal()
        let run = try bench.start(
            [
                "--keep-audio", "1d", option,
                "printf 'the secret? ' >/dev/tty; read -r secret </dev/tty; echo $secret",
            ], input: .terminal, terminal: terminal)
        // From here on the command has the terminal to itself.
        #expect(await run.wait(for: "the recording goes on while the command asks", in: .screen))
        // The voice is on the disk meanwhile, and nothing is sent; the key of takes comes first.
        if token != nil {
            #expect(await bench.wait(untilSamples: 8_000))
            #expect(server.requests.isEmpty)
        }
        // Space and Enter would end the recording if they were ours.
        try terminal.type("horse battery staple\n")
        _ = try #require(await server.wait(untilBytes: 8_000))
        #expect(await run.wait(for: "press Space or Enter to stop", in: .screen))
        try terminal.type("\n")
        let result = try await run.result()
        #expect(result.status == .exited(0), "\(result.screenText)")
        #expect(result.outputText == "open\n")
        #expect(server.requests.map { $0["Authorization"] } == [token])
        #expect(try bench.onlyTake()?.names == [audio, "take.json"])
    }
}
