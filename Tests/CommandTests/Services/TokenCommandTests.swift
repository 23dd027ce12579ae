// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A command that prints a token, while the voice is recorded.
@Suite struct TokenCommandTests {
    /// What may hang while the voice is recorded: each reads the pipe.
    @Test(arguments: [["-H", "@"], ["-c", "connection.proxy-login-file="]])
    func theVoiceIsRecordedWhileAFileTakesItsTime(_ option: [String]) async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("open"))
        let bench = try Bench(server: server, microphone: card)
        let proxy = try await ProxyServer(login: "name s3cret")
        let pipe = bench.folder.path("fields")
        try #require(mkfifo(pipe, 0o600) == 0)
        let isHeader = option[0] == "-H"
        let run = try bench.start(
            ["--for", "500ms", "--events", option[0], option[1] + pipe]
                + (isHeader ? [] : ["-c", "connection.proxy=\(proxy.url)"]))
        #expect(await run.wait(for: "\"captured\"", in: .output))
        #expect(server.requests.isEmpty)
        let text = isHeader ? "X-Key: sesame\nX-Model: large\n" : "name:s3cret\n"
        await onOwnThread {
            let writing = open(pipe, O_WRONLY | O_CLOEXEC)
            _ = write(writing, text, text.utf8.count)
            close(writing)
        }
        let result = try await run.result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        let request = try #require(await server.finishedRequest())
        if isHeader { #expect(request["X-Key"] == "sesame" && request["X-Model"] == "large") }
        #expect(request.body.count == 16_000)
    }

    @Test func theVoiceIsRecordedWhileTheCommandTakesItsTime() async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("open"))
        let bench = try Bench(server: server, microphone: card)
        let pipe = bench.folder.path("token")
        try #require(mkfifo(pipe, 0o600) == 0)
        let run = try bench.start([
            "--for", "500ms", "--events", "--token-command",
            "read -r token <'\(pipe)'; echo $token",
        ])
        #expect(await run.wait(for: "\"captured\"", in: .output))
        #expect(server.requests.isEmpty)
        await onOwnThread {
            let writing = open(pipe, O_WRONLY | O_CLOEXEC)
            _ = write(writing, "sesame\n", 7)
            close(writing)
        }
        let result = try await run.result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        let request = try #require(await server.finishedRequest())
        #expect(request["Authorization"] == "Bearer sesame")
        #expect(request.body.count == 16_000)
    }

    @Test func theCommandAsksThePersonWhoSpeaks() async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("open"))
        let bench = try Bench(server: server, microphone: card)
        let terminal = try PseudoTerminal()
        let run = try bench.start(
            [
                "--token-command",
                "printf 'the PIN? ' >/dev/tty; read -r pin </dev/tty; echo $pin",
            ], input: .terminal, terminal: terminal)
        #expect(await run.wait(for: "the recording goes on while the command asks", in: .screen))
        // Space and Enter would end the recording if they were ours.
        try terminal.type("4711 0815\n")
        _ = try #require(await server.wait(untilBytes: 8_000))
        #expect(await run.wait(for: "press Space or Enter to stop", in: .screen))
        try terminal.type("\n")
        let result = try await run.result()
        #expect(result.status == .exited(0), "\(result.screenText)")
        #expect(result.outputText == "open\n")
        #expect(server.requests.map { $0["Authorization"] ?? "" } == ["Bearer 4711 0815"])
    }

    @Test func theCommandIsRunOnceMoreWhenItsTokenIsRefused() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 401, text: "old")],
            otherwise: .answer(text: "new"))
        let bench = try Bench(server: server)
        let result = try await bench.run(
            "send", "--token-command", "echo key$UTTER_TOKEN_REFUSED", Clip.digits.path)
        #expect(result.outputText == "new\n", "\(result.errorText)")
        #expect(
            server.requests.map { $0["Authorization"] ?? "" } == ["Bearer key", "Bearer key1"])
    }

    @Test func aTakeWhoseCommandFailsIsKeptAndGoesOutLater() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "late"))
        let bench = try Bench(server: server)
        let flag = bench.folder.path("unlocked")
        let command = "test -e '\(flag)' && echo sesame"
        let result = try await bench.run(
            "send", "--token-command", command, Clip.digits.path)
        #expect(result.status == .exited(78))
        #expect(
            result.errorText.contains(
                "utter: error: the recording was not sent: the token: the command ended with "
                    + "status 1\n"), "\(result.errorText)")
        #expect(server.requests.isEmpty)
        _ = try bench.folder.write([], to: "unlocked")
        let again = try await bench.run("retry", "last", "--token-command", command)
        #expect(again.outputText == "late\n", "\(again.errorText)")
        #expect(server.requests.map { $0["Authorization"] ?? "" } == ["Bearer sesame"])
    }
}
