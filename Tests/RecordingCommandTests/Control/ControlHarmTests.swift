// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import Utter
@testable import UtterControl

/// Clients of the control socket that misbehave: the recording goes on, and others are served.
@Suite struct ControlHarmTests {
    private let bench: ControlBench

    init() throws { bench = try ControlBench(.hearing("whole")) }

    /// Expects that the recorder does what it should, whatever has happened.
    private func expectWhole(_ recorder: CommandRun) async throws {
        #expect(try await bench.status().phase == .recording)
        #expect(try await bench.run("stop").outputText == "whole\n")
        #expect(try await recorder.result().status == .exited(0))
        let body = try #require(bench.server.requests.first?.body)
        #expect(body == VirtualMicrophone.pcm(body.count / 2))
    }

    @Test func halfACommandSilenceAndDeafnessHarmNothing() async throws {
        let recorder = try await bench.record()
        let half = try bench.connect()
        try half.say(#"{"version":1,"comm"#)
        let silent = try bench.connect()
        let deaf = try ["follow", "status", "follow"].map { try bench.ask($0) }
        let gone = try bench.connect()
        try gone.say(#"{"version":1,"command":"stop""#)
        gone.finish()
        // One that says no more is let go; the others in their time.
        #expect(try await gone.rest() == "")
        // Another one follows meanwhile, and hears of each phase.
        let follow = try bench.start("status", "--follow", "--json")
        #expect(await follow.wait(for: #""phase":"recording""#, in: .output))
        try await expectWhole(recorder)
        withExtendedLifetime((half, silent, deaf)) {}
    }

    @Test func whatIsNoRequestIsAnsweredAndTheSilentAreLetGoInTime() async throws {
        let recorder = try await bench.record()
        let half = try bench.connect()
        try half.say("{")
        let unconfirmed = try bench.ask("cancel", #","confirm":true"#)
        let mistakes = [
            (#"{"version":2,"command":"stop"}"# + "\n", "version 2 of the protocol"),
            (
                #"{"version":1,"command":"explode"}"# + "\n",
                "'explode', which is none of start, stop"
            ),
            ("\u{0}\u{1}\n", "not a JSON object"), ("\n", "not a JSON object"),
            (String(repeating: "x", count: 5_000), "the request is longer than 4096 bytes"),
        ]
        for (text, reason) in mistakes {
            let client = try bench.connect()
            try client.say(text)
            let answer = try await client.rest()
            #expect(answer.contains(reason), "\(answer)")
            #expect(try ParsedJSON(Array(answer.utf8))["exit"] == .number(64))
        }
        #expect(try await half.rest() == "")
        #expect(try await unconfirmed.rest() == #"{"kind":"ready","version":1}"# + "\n")
        try await expectWhole(recorder)
    }

    @Test func forOneThatHasGoneNothingIsDone() async throws {
        let daemon = try await bench.daemon()
        /// Asks while the daemon hears nothing, and goes.
        func ask(_ commands: String...) throws {
            daemon.signal(SIGSTOP)
            for confirms in ["", #","confirm":true"#] {
                for command in commands { _ = try bench.ask(command, confirms) }
            }
            daemon.signal(SIGCONT)
        }
        try ask("start", "toggle")
        #expect(try await bench.run("status").outputText == "idle\n")
        #expect(try await bench.run("start").status == .exited(0))
        _ = try #require(await bench.server.wait(untilBytes: 6_400))
        try ask("stop", "toggle", "cancel")
        daemon.signal(SIGUSR1)
        #expect(await daemon.wait(for: "was not printed", in: .error))
        #expect(try await bench.run("last").outputText == "whole\n")
        try await daemon.terminate()
        #expect(bench.card.account.opens == 1)
    }

    @Test(arguments: [false, true])
    func aClientThatClosesItsSideGetsItsTextAllTheSame(_ confirms: Bool) async throws {
        let recorder = try await bench.record()
        let client = try bench.ask("stop", confirms ? #","confirm":true"# : "")
        if confirms { try client.say(#"{"version":1,"command":"confirmed"}"# + "\n") }
        client.finish()
        let answers = try await client.answers()
        #expect(answers.first?["kind"] == .string(confirms ? "ready" : "waiting"))
        #expect(answers.last?["kind"] == .string("result"))
        #expect(answers.last?["text"] == .string("whole"))
        #expect(answers.last?["exit"] == .number(0))
        let ended = try await recorder.result()
        #expect(ended.status == .exited(0) && !ended.errorText.contains("was not printed"))
    }

    @Test func aStaleSocketIsReplacedAndALiveOneIsNot() async throws {
        try bench.place.prepareFolder()
        try leaveStaleSocket(at: bench.place.path)
        #expect(bench.hasSocket)
        let recorder = try await bench.record()
        let mark = FileMark(bench.place.path)
        let second = try await bench.run("daemon")
        #expect(second.status == .exited(78))
        #expect(second.errorText.contains("another utter has the control socket"))
        #expect(FileMark(bench.place.path) == mark)
        try await expectWhole(recorder)
    }

    @Test func aFileInTheSocketsPlaceIsReplacedToo() async throws {
        try bench.place.prepareFolder()
        let file = open(bench.place.path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        close(file)
        try await expectWhole(bench.record())
    }

    @Test func aFolderThatOthersMayWriteInIsNotUsed() async throws {
        try bench.place.prepareFolder()
        // A socket that another user could have put there.
        let socket = try LocalSocket.listen(at: bench.place.path)
        #expect(chmod(bench.place.folder, 0o777) == 0)
        for command in ["start", "stop", "status"] {
            let result = try await bench.run(command)
            #expect(result.status == .exited(78))
            #expect(
                result.errorText.contains("cannot be trusted: others may write in it (mode 0777)"))
        }
        #expect(try LocalSocket.accept(from: socket.number) == nil)
        #expect(bench.card.account.opens == 0)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func anotherUserIsRefused() async throws {
        let folder = try TemporaryFolder()
        #expect(chmod(folder.path, 0o755) == 0)
        let bench = try ControlBench(.hearing("mine"), ["UTTER_SOCKET": folder.path("control")])
        let daemon = try await bench.daemon()
        // So that the kernel lets them through, which it does not otherwise.
        #expect(chmod(bench.place.path, 0o666) == 0)
        let script = """
            use Socket; $> = 65534; socket(S, PF_UNIX, SOCK_STREAM, 0) or die;
            connect(S, sockaddr_un($ARGV[0])) or die "connect: $!";
            print while <S>;
            """
        let result = try await CommandRun.run("perl", ["-e", script, bench.place.path])
        #expect(result.outputText.contains("the request is that of another user (65534)"))
        #expect(!result.outputText.contains("recording"))
        #expect(bench.card.account.opens == 0)
        try await daemon.terminate()
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func aSocketOfAnotherUserIsNotTalkedTo() async throws {
        let folder = try TemporaryFolder()
        #expect(chmod(folder.path, 0o777) == 0)
        let script = """
            use Socket; $> = 65534; socket(S, PF_UNIX, SOCK_STREAM, 0) or die;
            bind(S, sockaddr_un($ARGV[0])) or die; listen(S, 5); chmod 0777, $ARGV[0];
            $| = 1; print "listens\\n"; accept(C, S); print "said: ", <C>;
            """
        let foreign = try CommandRun("perl", ["-e", script, folder.path("control")])
        #expect(await foreign.wait(for: "listens", in: .output))
        let bench = try ControlBench(.hearing(""), ["UTTER_SOCKET": folder.path("control")])
        let result = try await bench.run("stop")
        #expect(result.status == .exited(78))
        #expect(result.errorText.contains("belongs to another user"))
        #expect(try await foreign.result().outputText == "listens\nsaid: ")
    }
}
