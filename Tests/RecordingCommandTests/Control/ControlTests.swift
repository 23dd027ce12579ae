// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import Utter
@testable import UtterControl

/// `utter start`, `stop`, `toggle` and `cancel`, without a daemon.
@Suite struct ControlTests {
    private let bench: ControlBench

    init() throws { bench = try ControlBench(.hearing("heard")) }

    @Test func stopPrintsTheTextAndTheRecorderNothing() async throws {
        let recorder = try await bench.record()
        let stop = try await bench.run("stop")
        #expect(stop.status == .exited(0))
        #expect(stop.outputText == "heard\n")
        #expect(stop.errorText == "")
        let ended = try await recorder.result()
        #expect(ended.status == .exited(0))
        #expect(ended.outputText == "")
        #expect(!bench.hasSocket)
        let body = try #require(bench.server.requests.first?.body)
        #expect(body == VirtualMicrophone.pcm(body.count / 2))
        // The text was printed: with no time for audio, it is gone.
        #expect(try bench.bench.onlyTake()?.samples == nil)
        #expect(try await bench.run("last").outputText == "heard\n")
    }

    /// The microphone is closed when 'pause' comes back, and the text is that of one take.
    @Test func aRecordingPausesAndGoesOn() async throws {
        let recorder = try await bench.record()
        let id = try #require(try await bench.status().take)
        let paused = try await bench.run("pause")
        #expect(paused.status == .exited(0))
        #expect(paused.errorText == "utter: the recording of take \(id) pauses\n")
        #expect(bench.card.account.closes == 1)
        #expect(
            try await bench.run("pause").errorText == "utter: the recording pauses already\n")
        #expect(try await bench.run("status").outputText.hasPrefix("paused"))
        let resumed = try await bench.run("resume")
        #expect(resumed.errorText == "utter: recording goes on in take \(id)\n")
        #expect(try await bench.run("resume").errorText == "utter: already recording take \(id)\n")
        #expect(
            try await bench.run("pause", "--toggle").errorText
                == "utter: the recording of take \(id) pauses\n")
        let stop = try await bench.run("stop", "--json")
        #expect(stop.status == .exited(0))
        let pauses = try #require(try ParsedJSON(stop.output)["pauses"]?.array)
        #expect(pauses.count == 2 && pauses.allSatisfy { ($0["start"]?.number ?? 0) > 0 })
        let told = try await recorder.result().errorText
        #expect(told.contains("the microphone is closed\n") && told.contains("recording goes on\n"))
        #expect(try await bench.run("show", id).outputText.contains("paused"))
    }

    @Test func aStopForAnotherTakeStopsNothing() async throws {
        let recorder = try await bench.record()
        let id = try #require(try await bench.status().take)
        let late = try await bench.run("stop", "--take", "20200101-000000-000000000000")
        #expect(late.status == .exited(67))
        #expect(
            late.errorText.hasPrefix(
                "utter: error: take 20200101-000000-000000000000 is not being recorded: the take "
                    + "that is recorded is \(id)\n"))
        #expect(try await bench.status().phase == .recording)
        let object = try ParsedJSON(await bench.run("stop", "--take", id, "--json").output)
        #expect(object["text"] == .string("heard"))
        #expect(object["exit"] == .number(0))
        #expect(object["frames"]?["captured"] != nil)
        #expect(try await recorder.result().status == .exited(0))
    }

    @Test func aTextIsPrintedOnce() async throws {
        let gate = Gate()
        let bench = try ControlBench("once", after: gate)
        let recorder = try await bench.record()
        let first = try bench.start("stop")
        #expect(try await bench.reaches(.waiting))
        let second = try await bench.run("stop")
        #expect(second.status == .exited(0))
        #expect(second.outputText == "")
        #expect(second.errorText.contains(" was stopped already; its text goes to the one who"))
        gate.open()
        #expect(try await first.result().outputText == "once\n")
        #expect(try await recorder.result().status == .exited(0))
    }

    @Test(arguments: [false, true])
    func aStopThatDiesLeavesTheTextToTheNextAndToLast(_ hasNext: Bool) async throws {
        let gate = Gate()
        let bench = try ControlBench("kept", after: gate)
        let recorder = try await bench.record()
        let stop = try bench.start("stop")
        #expect(try await bench.reaches(.waiting))
        stop.signal(SIGKILL)
        _ = try await stop.result()
        // The control thread reads the end before a request that comes later.
        _ = try await bench.run("status")
        let next = hasNext ? try bench.ask("stop") : nil
        if let next {
            // The text is promised to it.
            let line = try await next.next().utf8.dropLast()
            #expect(ControlAnswer(line: Array(line))?.kind == .waiting)
            next.finish()
        }
        gate.open()
        if let next { #expect(try await next.answers().last?["text"] == .string("kept")) }
        let ended = try await recorder.result()
        #expect(ended.status == .exited(0))
        #expect(ended.outputText == "")
        for words in [
            "utter: the text of take ", " was not printed\n",
            "utter: hint: print it with: utter show ",
        ] { #expect(ended.errorText.contains(words) == !hasNext, "\(ended.errorText)") }
        #expect(try await bench.run("last").outputText == "kept\n")
    }

    @Test func aStartWhileTheTakeBeforeIsAwaitedBeginsTheNext() async throws {
        let gate = Gate()
        let bench = try ControlBench(
            RecordingServer(
                scripts: [.answer(text: "first", after: gate)],
                otherwise: .answer(text: "second")))
        let recorder = try await bench.record()
        let first = try bench.start("stop")
        #expect(try await bench.reaches(.waiting))
        // In a recorder of its own.
        let next = try bench.start("start")
        _ = try #require(await bench.server.wait(untilBytes: 8_000, ofRequest: 1))
        #expect(try await bench.run("stop").outputText == "second\n")
        #expect(try await next.result().status == .exited(0))
        gate.open()
        #expect(try await first.result().outputText == "first\n")
        #expect(try await recorder.result().status == .exited(0))
        #expect(bench.server.requests.count == 2)
    }

    @Test func theTextOfARecordingThatEndedByItselfWaitsForAStop() async throws {
        let recorder = try await bench.record("--max", "300ms", bytes: 640)
        #expect(await recorder.wait(for: "the recording has reached --max", in: .error))
        #expect(try await bench.reaches(.idle))
        #expect(try await bench.run("stop").outputText == "heard\n")
        #expect(try await recorder.result().status == .exited(0))
        #expect(bench.server.requests.first?.body == VirtualMicrophone.pcm(4_800))
    }

    @Test func aSignalStopsAndTheTextIsKept() async throws {
        let recorder = try await bench.record()
        recorder.signal(SIGUSR1)
        let ended = try await recorder.result()
        #expect(ended.status == .exited(0))
        #expect(ended.errorText.contains(" was not printed\n"))
        #expect(try await bench.run("last").outputText == "heard\n")
    }

    @Test(arguments: ["cancel", "signal"])
    func whatIsCancelledIsNotSent(_ way: String) async throws {
        let recorder = try await bench.record()
        if way == "cancel" {
            let cancel = try await bench.run("cancel")
            #expect(cancel.status == .exited(0))
            #expect(cancel.errorText.hasSuffix(" is cancelled\n"))
        } else {
            recorder.signal(SIGUSR2)
        }
        let ended = try await recorder.result()
        #expect(ended.status == .exited(130))
        #expect(try bench.bench.onlyTake()?.manifest["state"] == .string("cancelled"))
        let request = try #require(await bench.server.finishedRequest())
        #expect(request.lastChunkAt == nil)
    }

    @Test func aTakeThatIsCancelledWhileItIsAwaitedEndsItsStop() async throws {
        let bench = try ControlBench("never", after: Gate())
        let recorder = try await bench.record()
        let stop = try bench.start("stop")
        #expect(try await bench.reaches(.waiting))
        #expect(try await bench.run("cancel").status == .exited(0))
        let stopped = try await stop.result()
        #expect(stopped.status == .exited(130))
        #expect(stopped.errorText.hasPrefix("utter: cancelled\n"))
        #expect(try await recorder.result().status == .exited(130))
    }

    @Test func aRefusalIsTheStopsStatusAndMessage() async throws {
        let bench = try ControlBench(
            RecordingServer(otherwise: .answer(status: 401, text: "no")))
        let recorder = try await bench.record()
        let stop = try await bench.run("stop")
        #expect(stop.status == .exited(77))
        #expect(stop.errorText.contains("utter: error: "))
        #expect(stop.errorText.contains("utter: kept: "))
        #expect(stop.errorText.contains("utter: hint: send it again with: utter retry "))
        #expect(try await recorder.result().status == .exited(77))
    }

    @Test func sigtermSavesTheTakeAndTellsTheOneWhoWaits() async throws {
        let bench = try ControlBench("never", after: Gate())
        let recorder = try await bench.record()
        let stop = try bench.start("stop")
        #expect(try await bench.reaches(.waiting))
        recorder.signal(SIGTERM)
        let stopped = try await stop.result()
        #expect(stopped.status == .exited(143))
        #expect(stopped.errorText.contains("utter: kept: "))
        #expect(try await recorder.result().status == .exited(143))
        #expect(!bench.hasSocket)
        #expect(try bench.bench.onlyTake()?.manifest["state"] == .string("kept"))
    }

    @Test func aRecorderThatWasKilledIsInNoOnesWayAndItsTakeIsNamedOnce() async throws {
        let killed = try await bench.record(bytes: 32_000)
        killed.signal(SIGKILL)
        _ = try await killed.result()
        #expect(bench.hasSocket)
        #expect(try await bench.run("status").outputText == "idle\n")
        let stop = try await bench.run("stop")
        #expect(stop.status == .exited(75))
        let name = try #require(stop.errorText.firstMatch(of: /retry ([0-9a-z]+)\n/)).output.1
        let words = /your recording of 0:0[0-9.]+ was kept\n/
        #expect(stop.errorText.contains(words), "\(stop.errorText)")
        #expect(try bench.bench.onlyTake()?.id.contains(name) == true)
        #expect(try await bench.run("stop").status == .exited(67))
        let recorder = try await bench.record()
        #expect(try await bench.run("stop").outputText == "heard\n")
        #expect(try await recorder.result().status == .exited(0))
        // What it had recorded is kept.
        _ = try await bench.run("list")
        let states = try bench.bench.takes().map { try $0.manifest["state"] }
        #expect(states.count == 2)
        #expect(states.contains(.string("kept")))
    }

    @Test func aRecordingThatWasKilledIsNewerThanAStopOfItsSecond() async throws {
        let answered = try await bench.record()
        // The next take begins at once, mostly in the same second.
        #expect(try await bench.run("stop").outputText == "heard\n")
        let killed = try await bench.record(bytes: 32_000)
        killed.signal(SIGKILL)
        _ = try await killed.result()
        let stop = try await bench.run("stop")
        #expect(stop.status == .exited(75), "\(stop.errorText)")
        let id = try #require(try bench.bench.takes().last?.id)
        #expect(stop.errorText.contains("utter retry \(id.asInHints)\n"), "\(stop.errorText)")
        #expect(try await answered.result().status == .exited(0))
    }

    /// A press that begins another recording says it, too.
    @Test func recordingsOfKilledProgramsAreNamed() async throws {
        let bench = try ControlBench(.hearing("heard"), ["UTTER_FOREGROUND": "false"])
        var lengths = 0
        for number in 0..<2 {
            let toggle = try await bench.run("toggle")
            lengths += toggle.errorText.matches(of: /your recording of 0:0\d/).count
            _ = try #require(await bench.server.wait(untilBytes: 32_000, ofRequest: number))
            let status = try ParsedJSON(await bench.run("status", "--json").output)
            kill(try #require(status["process"]?.number.map { Int32($0) }), SIGKILL)
            let isGone = await comesTrue {
                // Nobody listens any more.
                (try? LocalSocket.connect(to: bench.place.path, within: .seconds(1))) == nil
            }
            #expect(isGone)
        }
        #expect(lengths == 1)
        let stop = try await bench.run("stop")
        #expect(stop.status == .exited(75))
        #expect(
            stop.errorText.contains(/your recordings of 0:0\d.* and 0:0\d.* were kept\n/),
            "\(stop.errorText)")
        #expect(stop.errorText.hasSuffix("send them with: utter flush\n"), "\(stop.errorText)")
    }

    @Test func aStopIsToldThatTheMicrophoneWasLost() async throws {
        let recorder = try await bench.record()
        bench.card.unplug(.afterRing)
        #expect(await recorder.wait(for: "'default' disappeared after ", in: .error))
        let stop = try await bench.run("stop")
        #expect(stop.status == .exited(71))
        #expect(stop.outputText == "heard\n")
        let words = "utter: warning: 'default' disappeared after "
        #expect(stop.errorText.contains(words), "\(stop.errorText)")
        _ = try await recorder.result()
    }

    @Test func aStopIsToldThatTheMicrophoneWasMuted() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let bench = try ControlBench(.hearing("heard"), card: .repeating([0], in: folder))
        let recorder = try await bench.record()
        let words = "utter: warning: the microphone delivers only digital silence; is it muted?\n"
        #expect(await recorder.wait(for: words, in: .error))
        let stop = try await bench.run("stop")
        #expect(stop.errorText.contains(words), "\(stop.errorText)")
        _ = try await recorder.result()
    }

    @Test func aRecorderThatIsKilledBeforeTheAnswerLeavesAStopThatNamesItsTake() async throws {
        let gate = Gate()
        let bench = try ControlBench("too late", after: gate)
        let killed = try await bench.record()
        let stop = try bench.start("stop")
        _ = try #require(await bench.server.request(0) { $0.isComplete })
        let id = try #require(try bench.bench.onlyTake()?.id)
        killed.signal(SIGKILL)
        let result = try await stop.result()
        gate.open()
        #expect(result.status == .exited(75))
        let hint = "utter: hint: see what became of it with: utter show \(id.asInHints)\n"
        #expect(result.errorText.hasSuffix(hint), "\(result.errorText)")
        _ = try await killed.result()
    }

    @Test func whatCannotBePrintedStaysAndIsSaid() async throws {
        let recorder = try await bench.record()
        let stop = try await bench.bench.startShell("exec \"$0\" stop >/dev/full", []).result()
        #expect(stop.status == .exited(74))
        #expect(stop.errorText.contains("the transcript cannot be printed: No space left"))
        #expect(try await recorder.result().errorText.contains(" was not printed\n"))
        #expect(try await bench.run("last").outputText == "heard\n")
    }
}
