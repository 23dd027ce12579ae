// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The token reaches the service and no other program.
@Suite struct SecretTests {
    private static let key = "sesame-4711"

    private func writeKey(_ bench: Bench, _ text: String = key + "\n") throws -> String {
        try bench.folder.write(Array(text.utf8), to: "key")
    }

    @Test func aKeyFromTheEnvironmentIsSentAndAFileOverridesIt() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "open"))
        let bench = try Bench(server: server, ["UTTER_TOKEN": "from-the-environment"])
        _ = try await bench.run("send", Clip.digits.path)
        _ = try await bench.run("send", "--token-file", try writeKey(bench), Clip.digits.path)
        #expect(
            server.requests.map { $0["Authorization"] }
                == ["Bearer from-the-environment", "Bearer \(Self.key)"])
    }

    @Test func aPipeMayTakeItsTime() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "open"))
        let bench = try Bench(server: server)
        let pipe = bench.folder.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let script = #"""
            { exec >"$2"; printf 'sesame'; printf -- '-4711\n'; } &
            exec "$0" send --token-file "$2" "$1"
            """#
        let result = try await bench.startShell(script, [Clip.digits.path, pipe]).result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(server.requests.first?["Authorization"] == "Bearer \(Self.key)")
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
        let sent = try await bench.start(
            ["send", "-c", "auth.credential=key", Clip.digits.path], variables: credentials
        ).result()
        #expect(sent.status == .exited(77))
        #expect(server.requests.last?["Authorization"] == "Bearer \(Self.key)")
        // A take remembers the name, and another process must be given the same.
        let without = try await bench.run("retry", "last")
        #expect(without.status == .exited(78))
        #expect(without.errorText.contains("systemd has given this process no credentials"))
        let again = try await bench.start(["retry", "last"], variables: credentials).result()
        #expect(again.status == .exited(0))
        #expect(server.requests.last?["Authorization"] == "Bearer \(Self.key)")
        #expect(server.requests.count == 2)
    }

    @Test(arguments: ["../key", "", "missing"])
    func aCredentialThatIsNotThereIsRefused(_ name: String) async throws {
        let server = try RecordingServer()
        let bench = try Bench(server: server)
        _ = try writeKey(bench)
        let folder = bench.folder.path("takes")
        let result = try await bench.start(
            ["send", "-c", "auth.credential=\(name)", Clip.digits.path],
            variables: ["CREDENTIALS_DIRECTORY": folder]
        ).result()
        #expect(result.status == .exited(name.isEmpty ? 64 : 78))
        #expect(server.requests.isEmpty)
    }

    @Test func aTokenComesThroughADescriptor() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "open"))
        let bench = try Bench(server: server)
        let script = #"exec 5<"$1"; shift; exec "$0" "$@""#
        let run = try bench.startShell(
            script,
            [
                try writeKey(bench), "send", "--token-file", "/dev/fd/5", Clip.digits.path,
                Clip.digits.path,
            ])
        #expect(try await run.result().status == .exited(0))
        #expect(
            server.requests.map { $0["Authorization"] }
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
        let take = try #require(try bench.onlyTake())
        let manifest = String(decoding: try readFile("\(take.path)/take.json"), as: UTF8.self)
        #expect(!manifest.contains(Self.key))
    }

    @Test func aRecordingWhoseKeyOthersMayReadIsKept() async throws {
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

    @Test func aRecordingWhoseKeyCannotBeSentIsKept() async throws {
        let bench = try Bench()
        let file = try writeKey(bench, "a\u{7}b\n")
        let result = try await bench.run("send", "--token-file", file, Clip.digits.path)
        #expect(result.status == .exited(78))
        #expect(
            result.errorText.contains("not sent: the file '\(file)': the token cannot be sent: it"),
            "\(result.errorText)")
    }

    @Test func aRefusalNeverCrashesWhileTheLoopsAreStarting() async throws {
        let bench = try Bench()
        for _ in 0..<40 {
            let result = try await bench.run("send", "--token-file", "missing", Clip.digits.path)
            #expect(result.status == .exited(78))
        }
    }

    @Test(arguments: [
        ["--token-file"], ["-H", "Authorization: Bearer sesame-4711"],
        ["-H", "authorization: Basic c2VzYW1l"],
    ])
    func aKeyDoesNotTravelInTheClear(_ arguments: [String]) async throws {
        let bench = try Bench()
        let file = arguments.count == 1 ? [try writeKey(bench)] : []
        let run = try bench.start(
            ["send", "--to", "http://192.0.2.1:8/x"] + arguments + file + [Clip.digits.path])
        let result = try await run.result()
        #expect(result.status == .exited(78))
        #expect(
            result.errorText.contains("uthorization' holds a secret, and would travel in the clear")
        )
        #expect(
            result.errorText.hasSuffix(
                " to http://192.0.2.1:8\n"
                    + "utter: hint: use https, or allow it with -c transfer.insecure-token=true\n"))
    }

    @Test func insecureKeyLetsItTravelInTheClear() async throws {
        let bench = try Bench()
        let run = try bench.start([
            "send", "--to", "http://192.0.2.1:8/x", "--token-file", try writeKey(bench),
            "-c", "transfer.insecure-token=true", "-c", "retry.never=true", "-c",
            "transfer.connect-seconds=100ms", Clip.digits.path,
        ])
        // No machine has that address (RFC 5737): what matters is that it was tried.
        #expect(try await run.result().status == .exited(75))
    }
}
