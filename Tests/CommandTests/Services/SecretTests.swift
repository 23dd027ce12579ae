// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import TestSupport
import Testing
import Utter

@testable import UtterCommands

/// The token reaches the service and no other program.
@Suite struct SecretTests {
    private static let key = "sesame-4711"

    private func writeKey(_ bench: Bench, _ text: String = key + "\n") throws -> String {
        try bench.folder.write(Array(text.utf8), to: "key")
    }

    @Test func aPipeMayTakeItsTime() async throws {
        let bench = try Bench(server: .hearing("open"))
        let pipe = bench.folder.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let script = #"""
            { exec >"$2"; printf 'sesame'; printf -- '-4711\n'; } &
            exec "$0" send --token-file "$2" "$1"
            """#
        let result = try await bench.startShell(script, [Clip.digits.path, pipe]).result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(bench.requests.first?["Authorization"] == "Bearer \(Self.key)")
    }

    @Test func aPipedTokenThatIsGivenAgainIsWrittenAsBefore() async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .readBodyToEnd, .respond(status: 503)]],
            otherwise: .answer(text: "open"))
        let bench = try Bench(server: server)
        let script = #"""
            echo \#(Self.key) | "$0" send -q -c retry.never=true -c auth.kind=scheme \
                -c auth.scheme=Token --token-file /dev/fd/0 "$1"
            """#
        let sent = try await bench.startShell(script, [Clip.digits.path]).result()
        #expect(sent.status == .exited(75), "\(sent.errorText)")
        let missing = try await bench.run("retry", "last")
        #expect(missing.status == .exited(78))
        #expect(missing.errorText.contains("header 'Authorization': it was typed or piped"))
        #expect(missing.errorText.contains("--token-file FILE\n"))
        let file = try writeKey(bench, "another\n")
        #expect(try await bench.run("retry", "last", "--token-file", file).outputText == "open\n")
        #expect(
            server.requests.map { $0["Authorization"] } == ["Token \(Self.key)", "Token another"])
    }

    @Test func noProgramWithATokenCanBeDumped() async throws {
        let server = try RecordingServer(otherwise: [.readHead, .readOn])
        let bench = try Bench(server: server, ["UTTER_TOKEN": Self.key])
        let file = try writeKey(bench, Self.key)
        let sender = try bench.start(["send", "--pace", "max", "-"], input: .pipe)
        sender.write([UInt8](repeating: 7, count: 64_000))
        #expect(await server.wait(untilBytes: 3_000) != nil)
        let endpoint = try CommandRun.product(
            "utter-endpoint", ["serve", "--port", "0", "--token-file", file],
            environment: bench.environment)
        #expect(await endpoint.wait(for: "listening on", in: .error))
        for process in [sender.processIdentifier, endpoint.processIdentifier] {
            let limits = String(decoding: try readFile("/proc/\(process)/limits"), as: UTF8.self)
            let core = try #require(limits.split(separator: "\n").first { $0.contains("core") })
            #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
            // The kernel gives the files of such a process to root (proc(5)); root sees its own.
            var status = stat()
            #expect(stat("/proc/\(process)/environ", &status) == 0 && status.st_uid == 0)
        }
        sender.signal(SIGSEGV)
        let result = try await sender.result()
        #expect(Sanitizer.isUsed || result.status == .signalled(SIGSEGV))
    }

    @Test func aTokenComesFromACredentialOfSystemd() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 401, text: "no")], otherwise: .answer(text: "open"))
        let bench = try Bench(server: server)
        _ = try writeKey(bench)
        let credentials = ["CREDENTIALS_DIRECTORY": bench.folder.path]
        func send(_ name: String) async throws -> CommandResult {
            try await bench.start(
                ["send", "-c", "auth.credential=\(name)", Clip.digits.path], variables: credentials
            ).result()
        }
        #expect(try await send("key").status == .exited(77))
        #expect(server.requests.last?["Authorization"] == "Bearer \(Self.key)")
        // A take remembers the name, and another process must be given the same.
        let without = try await bench.run("retry", "last")
        #expect(without.status == .exited(78))
        #expect(without.errorText.contains("systemd has given this process no credentials"))
        let again = try await bench.start(["retry", "last"], variables: credentials).result()
        #expect(again.status == .exited(0))
        #expect(server.requests.last?["Authorization"] == "Bearer \(Self.key)")
        // Without one of that name nothing is sent.
        #expect(try await send("missing").status == .exited(78))
        #expect(server.requests.count == 2)
    }

    @Test func aTokenThroughADescriptorOverridesTheVariable() async throws {
        let bench = try Bench(server: .hearing("open"), ["UTTER_TOKEN": "from-the-environment"])
        let script = #"exec 5<"$1"; shift; exec "$0" "$@""#
        let words = ["send", "--token-file", "/dev/fd/5", Clip.digits.path, Clip.digits.path]
        let run = try bench.startShell(script, [try writeKey(bench)] + words)
        #expect(try await run.result().status == .exited(0))
        #expect(
            bench.requests.map { $0["Authorization"] }
                == ["Bearer \(Self.key)", "Bearer \(Self.key)"])
    }

    @Test func theKeyIsInNoMessageAndNoFile() async throws {
        let server = try RecordingServer(otherwise: .answer(status: 401, text: "wrong"))
        let bench = try Bench(server: server)
        let file = try writeKey(bench)
        let run = try await bench.run(
            "send", "-v", "--json", "--token-file", file, "--to",
            server.url("/x?key=\(Self.key)"), "-H", "X-Api-Key: \(Self.key)", Clip.digits.path)
        #expect(run.status == .exited(77))
        #expect(server.requests.first?.target == "/x?key=\(Self.key)")
        #expect(server.requests.first?["X-Api-Key"] == Self.key)
        #expect(!run.outputText.contains(Self.key))
        #expect(!run.errorText.contains(Self.key))
        let manifest = try #require(try bench.onlyTake()).manifestText
        #expect(!manifest.contains(Self.key))
    }

    @Test func aKeyDoesNotTravelInTheClear() async throws {
        let bench = try Bench()
        let (url, hint) = (
            "http://192.0.2.1:8",
            "use https, or allow it with -c transfer.insecure-token=true"
        )
        let result = try await bench.here(
            "send", "--to", url + "/x", "--token-file", try writeKey(bench), Clip.digits.path)
        #expect(result.status == .exited(78))
        let reason = "uthorization' holds a secret, and would travel in the clear to \(url)"
        #expect(result.errorText.hasSuffix("\(reason)\nutter: hint: \(hint)\n"))
        for field in ["Authorization: Bearer sesame-4711", "authorization: Basic c2VzYW1l"] {
            let error = #expect(throws: CommandFailure.self) {
                try ServiceOptions.parse(["--to", url + "/x", "-H", field]).delivery(format: nil)
            }
            #expect(error?.status == .configuration)
            #expect(error?.message.hasSuffix(reason) == true)
            #expect(error?.hint == hint)
        }
    }

    @Test func aRecordingWhoseKeyCannotBeUsedIsKept() async throws {
        let bench = try Bench()
        let file = try writeKey(bench)
        chmod(file, 0o644)
        let result = try await bench.run("send", "--token-file", file, Clip.digits.path)
        #expect(result.status == .exited(78))
        #expect(result.output.isEmpty)
        #expect(
            result.errorText.contains(
                "utter: error: the recording was not sent: '\(file)' can be read by others\n"),
            "\(result.errorText)")
        #expect(try bench.onlyTake() != nil)
    }
}

/// A command that prints a key, beyond what `EncryptionTests` ask of it.
@Suite struct SecretCommandTests {
    @Test func whatACommandHasStartedGoesWithItWhenTimeIsUp() async throws {
        let folder = try TemporaryFolder()
        let pipe = try LifePipe(in: folder)
        // Two generations of it hold the pipe open; each would for ten minutes.
        let command = SecretCommand(
            command: "exec 3>\(pipe.path); echo x >&3; sh -c 'sleep 600; true'; sleep 600",
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
        #expect(await pipe.isClosed())
    }

    /// The output of a command; nil when it fails.
    private func output(of command: String) async -> [UInt8]? {
        let command = SecretCommand(command: command, option: "--key")
        return await onOwnThread { () -> [UInt8]? in
            // A command that fails has no output.
            try? command.output(within: .patience)
        }
    }

    @Test func whatACommandLeavesInTheBackgroundIsNotWaitedFor() async throws {
        let folder = try TemporaryFolder()
        let number = folder.path("number")
        // As an agent would, it holds the pipe open and prints nothing.
        let output = await output(of: "(sleep 600 & echo $! >\(number)); echo tok")
        #expect(output == Array("tok\n".utf8))
        let process = try #require(
            Int32(String(decoding: try readFile(number), as: UTF8.self).dropLast()))
        // It is left alone, as it is by a shell.
        #expect(kill(process, SIGKILL) == 0)
    }

    @Test func theRestOfALineMayComeFromTheBackground() async throws {
        #expect(await output(of: "(sleep 0.2; echo en) & printf tok") == Array("token\n".utf8))
    }

    @Test func aCommandHearsThatItsTokenWasRefusedAndSaysHowItEnded() async throws {
        let echo = SecretCommand(command: "echo key$UTTER_TOKEN_REFUSED", option: "the token")
        let test = SecretCommand(command: "test -e /nothere", option: "the token")
        let yes = SecretCommand(command: "yes | tr -d '\\n'", option: "the token")
        let said = await onOwnThread { () -> [String] in
            [(echo, false), (echo, true), (test, false), (yes, false)].map { command, isRefused in
                do throws(CommandFailure) {
                    return try command.firstLine(isRefused: isRefused)
                } catch {
                    return error.message
                }
            }
        }
        #expect(
            said == [
                "key", "key1", "the token: the command ended with status 1",
                "the token: the command prints too much for a key",
            ])
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
