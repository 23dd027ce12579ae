// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import UtterControl

/// `utter daemon`: the same commands find it, and what it keeps ready.
@Suite struct DaemonTests {
    private func end(_ daemon: BenchRun) async throws -> CommandResult {
        daemon.signal(SIGTERM)
        let result = try await daemon.result()
        #expect(result.status == .exited(0))
        return result
    }

    @Test func theSameCommandsFindItAndItGoesOn() async throws {
        let bench = try ControlBench(
            RecordingServer(
                scripts: [.answer(text: "one"), .answer(text: "two")],
                otherwise: .answer(text: "three")))
        let daemon = try await bench.daemon()
        for (number, text) in ["one", "two"].enumerated() {
            let start = try await bench.run("start")
            #expect(start.status == .exited(0))
            #expect(start.outputText == "")
            _ = try #require(await bench.server.wait(untilBytes: 8_000, ofRequest: number))
            #expect(try await bench.run("stop").outputText == "\(text)\n")
        }
        #expect(try await bench.run("toggle").status == .exited(0))
        _ = try #require(await bench.server.wait(untilBytes: 8_000, ofRequest: 2))
        #expect(try await bench.run("toggle").outputText == "three\n")
        #expect(try await bench.run("stop").status == .exited(67))
        let status = try JSONText(await bench.run("status", "--json").output)
        #expect(status["isDaemon"] == .bool(true))
        #expect(status["process"] == .number(Double(daemon.processIdentifier)))
        _ = try await end(daemon)
        #expect(!bench.hasSocket)
        // The card is closed between takes.
        #expect(bench.card.account.opens == 3)
        #expect(bench.card.account.closes == 3)
    }

    @Test(arguments: [
        ["--to", "http://127.0.0.1:9/"], ["--service", "./mine.toml"], ["--device", "other"],
        ["-c", "recording.min=0"], ["--no-keep"], ["--encrypt-key", "key"],
        ["--service", "deepgram", "--model", "nova-3"],
    ])
    func optionsThatWouldNotCountAreRefused(_ options: [String]) async throws {
        let bench = try ControlBench(.hearing("not for it"))
        let daemon = try await bench.daemon()
        for command in ["start", "toggle"] {
            let result = try await bench.bench.start([command] + options).result()
            #expect(result.status == .exited(64))
            #expect(
                result.errorText.hasPrefix(
                    "utter: error: 'utter daemon' records, and knows nothing of these options\n"
                        + "utter: hint: leave them out, but for -q, --service NAME and where the "
                        + "text goes; give them to that command when it begins, or write them into "
                        + "its settings: utter config edit\n"))
        }
        // What counts where the command is, and nothing, are no such options.
        #expect(try await bench.run("start", "-q", "--no-newline").status == .exited(0))
        #expect(try await bench.run("cancel").status == .exited(0))
        _ = try await end(daemon)
        #expect(bench.card.account.opens <= 1)
    }

    @Test func aRequestNamesAServiceOfTheDaemonsSettings() async throws {
        let folder = try TemporaryFolder()
        let other = try RecordingServer.hearing("another service")
        let bench = try ControlBench(.hearing("usual"), ["XDG_CONFIG_HOME": folder.path])
        #expect(mkdir(folder.path("utter"), 0o700) == 0)
        let settings = """
            [services.other]
            profile = "whisper-cpp"
            url = "\(other.url())"

            """
        try folder.write(Array(settings.utf8), to: "utter/config.toml")
        let daemon = try await bench.daemon()
        let words = [
            ["start", "--service", "other"], ["toggle"], ["toggle", "--service", "other"],
        ]
        for (number, words) in words.enumerated() {
            let start = try await bench.bench.start(words).result()
            #expect(start.status == .exited(0), "\(start.errorText)")
            let isUsual = words.count == 1
            _ = try #require(
                await (isUsual ? bench.server : other).wait(
                    untilBytes: 6_400, ofRequest: isUsual ? 0 : number / 2))
            let text = isUsual ? "usual\n" : "another service\n"
            #expect(try await bench.run("stop").outputText == text)
        }
        for name in ["none-such", "--help"] {
            let unknown = try await bench.run("start", "--service=\(name)")
            #expect(unknown.status == .exited(64))
            #expect(unknown.errorText.contains(name))
        }
        // By name alone, whoever asks.
        let client = try bench.connect()
        try client.say(#"{"version":1,"command":"start","service":"/tmp/a.toml"}"# + "\n")
        #expect(try await client.rest().contains("is no name of a service"))
        #expect(try await bench.run("status").outputText == "idle\n")
        _ = try await end(daemon)
        #expect(other.requests.count == 2 && bench.server.requests.count == 1)
    }

    @Test func sigtermSavesWhatIsRecorded() async throws {
        let bench = try ControlBench(.hearing("never"))
        let daemon = try await bench.daemon()
        _ = try await bench.run("start")
        _ = try #require(await bench.server.wait(untilBytes: 16_000))
        _ = try await end(daemon)
        #expect(!bench.hasSocket)
        let take = try #require(try bench.bench.onlyTake())
        #expect(try take.manifest["state"] == .string("kept"))
        #expect(try #require(try take.samples).count >= 16_000)
    }

    @Test func theFileOfSettingsIsReadAgainWhenItHasChanged() async throws {
        let folder = try TemporaryFolder()
        let bench = try ControlBench(.hearing("as told"), ["XDG_CONFIG_HOME": folder.path])
        #expect(mkdir(folder.path("utter"), 0o700) == 0)
        let daemon = try await bench.daemon()
        for (number, (format, beginning)) in [("wav", "RIFF"), ("flac", "fLaC")].enumerated() {
            try folder.write(Array("format = \"\(format)\"\n".utf8), to: "utter/config.toml")
            #expect(try await bench.run("start").status == .exited(0))
            let request = try #require(
                await bench.server.wait(untilBytes: 8_000, ofRequest: number))
            #expect(Array(request.body.prefix(4)) == Array(beginning.utf8))
            #expect(try await bench.run("stop").outputText == "as told\n")
        }
        try folder.write(Array("no-such-thing = 1\n".utf8), to: "utter/config.toml")
        let wrong = try await bench.run("start")
        #expect(wrong.status == .exited(78))
        #expect(wrong.errorText.contains("no-such-thing"))
        _ = try await end(daemon)
    }

    @Test func aPreRollBeginsBeforeTheKey() async throws {
        let bench = try ControlBench(.hearing("before"))
        let daemon = try await bench.daemon("--pre-roll", "500ms")
        let isFull = await onOwnThread {
            let deadline = MonotonicTime.now + .patience
            while bench.card.account.captured < 16_000, MonotonicTime.now < deadline {
                poll(nil, 0, 5)
            }
            return bench.card.account.captured >= 16_000
        }
        #expect(isFull)
        let captured = bench.card.account.captured
        #expect(try await bench.run("start").status == .exited(0))
        _ = try #require(await bench.server.wait(untilBytes: 20_000))
        #expect(try await bench.run("stop").outputText == "before\n")
        let body = try #require(await bench.server.finishedRequest()).body
        let samples = (0..<body.count / 2).map {
            Int16(truncatingIfNeeded: Int(body[2 * $0]) | Int(body[2 * $0 + 1]) << 8)
        }
        let begin = try #require(
            (0..<480_000).first { start in
                samples.indices.allSatisfy {
                    samples[$0] == VirtualMicrophone.sample(at: start + $0)
                }
            })
        // What it had when start was called is at most 500 ms before that, and not from the first;
        // the period in hand may not have been read.
        #expect(begin > 0)
        #expect(begin > captured - 8_000 - 320)
        #expect(bench.card.account.opens == 1)
        _ = try await end(daemon)
        #expect(bench.card.account.closes == 1)
    }

    @Test func aManagerHandsItTheSocketAndIsTold() async throws {
        let bench = try ControlBench(.hearing("activated"))
        try bench.place.prepareFolder()
        let notices = bench.bench.folder.path("notices")
        let listener = try CommandRun(
            "perl",
            [
                "-e",
                """
                use Socket; $| = 1; socket(S, PF_UNIX, SOCK_DGRAM, 0) or die;
                bind(S, sockaddr_un($ARGV[0])) or die; print "listens\\n";
                recv(S, my $text, 100, 0); print $text;
                """, notices,
            ])
        #expect(await listener.wait(for: "listens", in: .output))
        let script = """
            BEGIN { $^F = 10 } use Socket; use POSIX ();
            socket(S, PF_UNIX, SOCK_STREAM, 0) or die; unlink $ARGV[0];
            bind(S, sockaddr_un($ARGV[0])) or die; listen(S, 128) or die;
            POSIX::dup2(fileno(S), 3) unless fileno(S) == 3;
            ($ENV{LISTEN_FDS}, $ENV{LISTEN_PID}) = (1, $$); exec $ARGV[1], "daemon";
            """
        let utter = try #require(BuiltProducts.path(of: "utter"))
        var environment = bench.bench.environment
        environment["NOTIFY_SOCKET"] = notices
        let daemon = try CommandRun(
            "perl", ["-e", script, bench.place.path, utter], environment: environment)
        #expect(await listener.wait(for: "READY=1", in: .output))
        #expect(try await bench.run("start").status == .exited(0))
        _ = try #require(await bench.server.wait(untilBytes: 8_000))
        #expect(try await bench.run("stop").outputText == "activated\n")
        daemon.signal(SIGTERM)
        #expect(try await daemon.result().status == .exited(0))
        // It is the manager's: the next client starts the daemon again.
        #expect(bench.hasSocket)
    }
}
