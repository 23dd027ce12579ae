// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import UtterCommands

/// A command that prints a key, beyond what `EncryptionTests` ask of it.
@Suite struct SecretCommandTests {
    @Test func whatACommandHasStartedGoesWithItWhenTimeIsUp() async throws {
        let folder = try TemporaryFolder()
        let pipe = folder.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let reading = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(reading >= 0)
        defer { close(reading) }
        // Two generations of it hold the pipe open; each would for ten minutes.
        let command = SecretCommand(
            command: "exec 3>\(pipe); echo x >&3; sh -c 'sleep 600; true'; sleep 600",
            option: "--key")
        let message = await onOwnThread { () -> String in
            do throws(CommandFailure) {
                _ = try command.output(within: .seconds(4))
                return "it ended"
            } catch {
                return error.message
            }
        }
        #expect(message == "--key: the command did not end within 4.00 s")
        // The last of them is gone when the pipe has no writer any more.
        let hungUp = await onOwnThread {
            var event = pollfd(fd: reading, events: 0, revents: 0)
            return poll(&event, 1, Int32(Duration.patience.components.seconds) * 1_000)
        }
        #expect(hungUp == 1)
    }

    @Test func whatACommandLeavesInTheBackgroundIsNotWaitedFor() async throws {
        // As an agent would, it holds the pipe open and prints nothing.
        let folder = try TemporaryFolder()
        let number = folder.path("number")
        let command = SecretCommand(
            command: "(sleep 600 & echo $! >\(number)); echo tok", option: "--key")
        let output = await onOwnThread { () -> [UInt8]? in
            // What fails has no output.
            try? command.output(within: .patience)
        }
        #expect(output == Array("tok\n".utf8))
        let process = try #require(
            Int32(String(decoding: try readFile(number), as: UTF8.self).dropLast()))
        // It is left alone, as it is by a shell.
        #expect(kill(process, SIGKILL) == 0)
    }

    @Test func theRestOfALineMayComeFromTheBackground() async throws {
        let command = SecretCommand(
            command: "(sleep 0.2; echo en) & printf tok", option: "--key")
        let output = await onOwnThread { () -> [UInt8]? in
            // As above.
            try? command.output(within: .patience)
        }
        #expect(output == Array("token\n".utf8))
    }

    @Test func aCommandAsksForTheKeyWhileTheTakeRecords() async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("open"))
        let bench = try Bench(server: server, microphone: card)
        let terminal = try PseudoTerminal()
        let run = try bench.start(
            [
                "--keep-audio", "1d", "--encrypt-key-command",
                "printf 'the key? ' >/dev/tty; read -r key </dev/tty; echo $key",
            ], input: .terminal, terminal: terminal)
        #expect(await run.wait(for: "press Space or Enter to stop", in: .screen))
        // From here on the command has the terminal to itself.
        #expect(await run.wait(for: "the recording goes on while", in: .screen))
        try terminal.type("horse battery staple\n")
        _ = try #require(await server.wait(untilBytes: 8_000))
        try terminal.type("\n")
        let result = try await run.result()
        #expect(result.status == .exited(0), "\(result.screenText)")
        #expect(result.outputText == "open\n")
        #expect(try bench.onlyTake()?.names == ["audio.wav.encrypted", "take.json"])
    }

    /// As Ctrl-C on the terminal, which the command has to itself.
    @Test func aSignalToTheCommandsGroupIsItsOwnAffair() async throws {
        let bench = try Bench()
        let result = try await bench.run(
            "send", "--encrypt-key-command", "kill -INT 0; exec sleep 600", Clip.digits.path)
        #expect(result.status == .exited(78))
        #expect(result.errorText.contains("the command was ended by signal 2\n"))
    }
}
