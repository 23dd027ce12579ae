// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import UtterCommands

/// `utter` with a microphone: how a recording begins and ends.
@Suite struct RecordTests {
    private let card: VirtualMicrophone
    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("heard"))
        bench = try Bench(server: server, microphone: card)
    }

    /// The port is that of `utter serve`, which may run beside the tests.
    @Test(.enabled(if: !ServiceOptions.listensLocally))
    func withoutAServiceThatIsSaidBeforeTheRecording() async throws {
        let bench = try Bench(microphone: card, ["UTTER_URL": ""])
        let result = try await bench.run("--for", "300ms", "-c", "retry.never=true")
        #expect(result.status == .exited(75))
        let unset = "no service is set, and none listens at http://127.0.0.1:8517/recognize"
        let hint = "utter: hint: run 'utter setup'; 'utter setup local' installs a service on this "
        let text = result.errorText
        #expect(text.hasPrefix("utter: warning: \(unset); what you say is kept\n\(hint)"))
        #expect(text.contains("\nutter: error: \(unset)\n\(hint)"), "\(text)")
        #expect(try bench.onlyTake()?.manifest["state"] == .string("kept"))
    }

    /// A recording for a set time is never too short.
    @Test func forRecordsExactlySoManyFramesFromTheFirst() async throws {
        let result = try await bench.run("--for", "700ms", "-c", "recording.min=10m")
        #expect(result.status == .exited(0))
        #expect(result.outputText == "heard\n")
        var lines = result.errorText.split(separator: "\n")
        #expect(lines.removeFirst() == "utter: recording from default, 16000 Hz mono")
        // What follows within the second has its turn only if the answer takes as long.
        let later = Set(lines.map { $0.replacing(/after 0\.\d s/, with: "after N s") })
        #expect(
            later.isSubset(of: [
                "utter: recording stopped after N s; sending",
                "utter: all sent; waiting for the text",
                "utter: recording stopped after N s; all sent, waiting for the text",
            ]))
        #expect(server.requests.first?.body == VirtualMicrophone.pcm(11_200))
    }

    @Test(arguments: [
        (true, Int32(66), "another program holds it"),
        (false, 78, "permission denied"),
    ])
    func aDeviceThatIsHeldOrForbiddenIsSaid(
        _ isBusy: Bool, _ status: Int32, _ reason: String
    ) async throws {
        if isBusy { card.setBusy() } else { card.setDenied() }
        let result = try await bench.run("--for", "1s")
        #expect(result.status == .exited(status))
        #expect(result.errorText.contains(reason))
    }

    @Test func aPlugInThatCannotBeLoadedIsStatus66AndAlsasReasonIsSaidOnce() async throws {
        let folder = try TemporaryFolder()
        let configuration = try folder.write(
            Array("pcm.broken { type nowhere }\n".utf8), to: "asound.conf")
        // A refused connection would be a reason of its own.
        let server = try RecordingServer()
        let bench = try Bench(server: server, ["ALSA_CONFIG_PATH": configuration])
        let result = try await bench.run(
            "--device", "broken", "-c", "retry.never=true", "--json")
        #expect(result.status == .exited(66))
        let reason = "ALSA says: Cannot open shared library libasound_module_pcm_nowhere.so"
        #expect(result.errorText.ranges(of: reason).count == 1, "\(result.errorText)")
        #expect(result.errorText.contains("utter: error: cannot record from 'broken': No such d"))
        #expect(result.errorText.contains("utter: hint: check ALSA's configuration"))
        #expect(try ParsedJSON(result.output)["exit"] == .number(66))
    }

    @Test func aLineThatWasThereBeforeEndsTheRecordingAtOnce() async throws {
        // The pipe has the line before the program starts, and stays open.
        let fifo = bench.folder.path("fifo")
        let run = try bench.startShell(
            "mkfifo \"$1\"; exec 3<>\"$1\"; echo >&3; exec \"$0\" -c recording.min=0 <\"$1\"",
            [fifo])
        try await expectEnd(of: run)
    }

    @Test(arguments: 0..<3)
    func aLineAndTheEndOfAPipeAtTheStartEndTheRecordingAtOnce(_ attempt: Int) async throws {
        try await expectEnd(of: bench.start(["-c", "recording.min=0"], input: .bytes([0x0A])))
    }

    /// Expects an end for which no request came, and all of what was recorded.
    private func expectEnd(of run: CommandRun) async throws {
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.outputText == "heard\n")
        let body = try #require(server.requests.first?.body)
        #expect(body == VirtualMicrophone.pcm(body.count / 2))
    }

    @Test func enterOnTheControllingTerminalWorksWhenStandardInputIsAFile() async throws {
        let terminal = try PseudoTerminal()
        let run = try bench.start([], input: .nothing, terminal: terminal)
        #expect(await run.wait(for: "press Space or Enter to stop", in: .screen))
        try await expectWhole(run) { try terminal.type("\n") }
    }

    /// Steady noise is a room, not a voice: the tail is half as long as that behind one.
    @Test func aLineOnAPipeEndsTheRecordingAndTheTailFollows() async throws {
        let run = try bench.start(["-c", "recording.tail=2s"], input: .pipe)
        run.write(Array("half a line".utf8))
        let tail = try await expectWhole(run) { run.write([0x0A]) }
        #expect(tail >= 32_000)
    }

    @Test(arguments: [CommandRun.Input.nothing, .bytes([])])
    func withoutALineOnStandardInputSIGUSR1EndsTheRecording(
        _ input: CommandRun.Input
    ) async throws {
        let run = try bench.start([], input: input)
        if case .nothing = input {
            let hint = "mono; stop with: kill -USR1 \(run.processIdentifier)\n"
            #expect(await run.wait(for: hint, in: .error))
        }
        // Long after the end of standard input has been seen.
        #expect(await server.wait(untilBytes: 32_000) != nil)
        #expect(run.status == nil)
        try await expectWhole(run) { run.signal(SIGUSR1) }
    }

    /// Lets half a second be heard, stops, and expects every frame from the first on.
    ///
    /// - Returns: how many bytes came behind those that were heard before the stop.
    @discardableResult
    private func expectWhole(_ run: CommandRun, stop: () throws -> Void) async throws -> Int {
        let before = try #require(await server.wait(untilBytes: 16_000))
        #expect(before.lastChunkAt == nil)
        try stop()
        let result = try await run.result()
        #expect(result.status == .exited(0))
        let body = try #require(server.requests.first?.body)
        #expect(body.count > before.body.count)
        #expect(body == VirtualMicrophone.pcm(body.count / 2))
        #expect(card.account.stops == 0)
        return body.count - before.body.count
    }

    @Test func maxEndsTheRecordingAndSaysWhy() async throws {
        let result = try await bench.run("--max", "300ms")
        #expect(result.status == .exited(0))
        #expect(server.requests.first?.body == VirtualMicrophone.pcm(4_800))
        #expect(
            result.errorText.contains("utter: stopped: the recording has reached --max\n"))
    }

    @Test func anUnpluggedMicrophoneIsStatus71AndTheRestIsSentAndPrinted() async throws {
        let run = try bench.start([])
        _ = try #require(await server.wait(untilBytes: 16_000))
        card.unplug(.afterRing)
        let result = try await run.result()
        #expect(result.status == .exited(71))
        #expect(result.outputText == "heard\n")
        #expect(result.errorText.contains("utter: warning: 'default' disappeared after "))
        #expect(result.hasPlainErrors)
        #expect(server.requests.first?.body == VirtualMicrophone.pcm(card.account.unpluggedAt))
    }

    @Test func anUnpluggedMicrophoneWithoutAServiceKeepsWhatWasHeard() async throws {
        let bench = try Bench(microphone: card)
        let run = try bench.start(["-c", "retry.never=true"])
        #expect(await run.wait(for: "recording goes on and is kept", in: .error))
        // What has no audio is not kept.
        #expect(await bench.wait(untilSamples: 1_600))
        card.unplug(.afterRing)
        let result = try await run.result()
        #expect(result.status == .exited(75))
        let kept = try #require(try bench.onlyTake()?.samples)
        #expect(kept == VirtualMicrophone.pcm(card.account.unpluggedAt))
    }

    @Test func anEarlyRefusalIsSaidWhileTheRecordingGoesOn() async throws {
        let server = try RecordingServer(otherwise: [
            .readHead, .readBody(bytes: 3_200), .respond(status: 401, text: "no"),
        ])
        let bench = try Bench(server: server, microphone: card)
        let run = try bench.start(["-c", "recording.min=0"])
        #expect(
            await run.wait(
                for: "utter: warning: the service wants a token, and none was given: 401: no; ",
                in: .error))
        #expect(run.status == nil)
        run.signal(SIGUSR1)
        let result = try await run.result()
        #expect(result.status == .exited(77))
        let kept = try #require(try bench.onlyTake()?.samples)
        #expect(kept == VirtualMicrophone.pcm(kept.count / 2))
        #expect(kept.count > 3_200)
    }
}

/// A microphone whose driver does not answer while it is opened, and a file that hangs.
@Suite struct SlowOpeningTests {
    private static let silent = "the microphone 'default' does not answer yet: nothing is recorded"

    private let card: VirtualMicrophone
    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        card = try VirtualMicrophone()
        server = try RecordingServer.hearing("at last")
        bench = try Bench(server: server, microphone: card)
        card.setBlocking()
    }

    @Test func itIsSaidAndTheTakeGoesOnWhenTheDriverAnswers() async throws {
        let run = try bench.start(["--events", "--for", "300ms"])
        #expect(await run.wait(for: "utter: \(Self.silent)\n", in: .error))
        #expect(await run.wait(for: #""event":"opening""#, in: .output))
        card.setBlocking(nil)
        let result = try await run.result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(server.requests.first?.body == VirtualMicrophone.pcm(4_800))
        #expect(result.errorText.ranges(of: Self.silent).count == 1)
    }

    @Test func aStopEndsWhatRecordsNothing() async throws {
        let run = try bench.start([])
        try #require(await run.wait(for: "utter: \(Self.silent)\n", in: .error))
        run.signal(SIGUSR1)
        let result = try await run.result()
        #expect(result.status == .exited(1))
        #expect(result.errorText.contains("utter: nothing was recorded, and nothing is sent\n"))
        #expect(server.requests.allSatisfy { $0.lastChunkAt == nil })
        #expect(try bench.takes().isEmpty)
        card.setBlocking(nil)
    }

    @Test func aProgramThatIsEndedWaitsForNoDriver() async throws {
        let run = try bench.start([])
        try #require(await run.wait(for: Self.silent, in: .error))
        run.signal(SIGTERM)
        let result = try await run.result()
        #expect(result.status == .exited(143))
        // The second before which it goes by force has not been needed.
        #expect(!result.errorText.contains("left without waiting"), "\(result.errorText)")
        card.setBlocking(nil)
    }

    @Test(.enabled(if: HangingFile.isPossible), arguments: [SIGTERM, SIGINT])
    func aProgramThatIsEndedWaitsForNoFile(_ signal: Int32) async throws {
        let file = try bench.folder.write([], to: "hangs")
        let hanging = try await HangingFile(file)
        defer { hanging.release() }
        let run = try bench.start(["send", file])
        #expect(await run.wait(for: "utter: waiting for '\(file)'", in: .error))
        run.signal(signal)
        let result = try await run.result()
        #expect(result.status == .exited(signal == SIGTERM ? 143 : 130))
        #expect(!result.errorText.contains("left without waiting"), "\(result.errorText)")
        #expect(server.connectionCount == 0)
        #expect(try bench.takes().isEmpty)
    }
}
