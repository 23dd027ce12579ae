// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import LinuxPlatform
@testable import Utter
@testable import UtterControl

/// `utter start` and `toggle` by themselves: they come back, and a recorder goes on.
@Suite struct BackgroundStartTests {
    private let bench: ControlBench

    init() throws {
        bench = try ControlBench(.hearing("heard"), ["UTTER_FOREGROUND": "false"])
    }

    /// Whether the recorder has ended: the socket has no name any more.
    private func hasEnded() async -> Bool { await comesTrue { [bench] in !bench.hasSocket } }

    @Test(arguments: [("start", "stop"), ("toggle", "toggle")])
    func aStartComesBackAndAStopPrintsTheText(_ begin: String, _ end: String) async throws {
        let start = try await bench.run(begin)
        #expect(start.status == .exited(0))
        #expect(start.outputText == "")
        #expect(start.errorText.wholeMatch(of: /utter: recording take [0-9a-z-]+\n/) != nil)
        #expect(try await bench.status().phase == .recording)
        _ = try #require(await bench.server.wait(untilBytes: 6_400))
        let stop = try await bench.run(end)
        #expect(stop.outputText == "heard\n")
        #expect(stop.status == .exited(0))
        #expect(await hasEnded())
        let body = try #require(bench.server.requests.first?.body)
        #expect(body == VirtualMicrophone.pcm(body.count / 2))
        #expect(bench.card.account.opens == 1)
    }

    /// A place where sentence after sentence is spoken, with the files of a folder.
    private func talkingBench(
        _ scripts: [[ServerStep]], in folder: TemporaryFolder
    ) throws -> ControlBench {
        try ControlBench(
            RecordingServer(scripts: scripts, otherwise: .answer(text: "more")),
            ["UTTER_FOREGROUND": "false"], card: VirtualMicrophone(.talking(in: folder)))
    }

    @Test func aStartThatLoopsRecordsSentencesUntilItsWord() async throws {
        let folder = try TemporaryFolder()
        let bench = try talkingBench(
            [.answer(text: "one"), .answer(text: "Two, stop listening.")], in: folder)
        let file = folder.path("texts")
        let start = try await bench.run(
            "start", "--loop", "--silence", "600ms", "-o", file, "-c",
            "text.stop-word=stop listening")
        #expect(start.status == .exited(0), "\(start.errorText)")
        #expect(await comesTrue { !bench.hasSocket })
        #expect(String(decoding: try readFile(file), as: UTF8.self) == "one\nTwo\n")
        for (options, lack) in [([], "--silence 1s"), (["--silence", "1s"], "--copy")] {
            let refused = try await bench.bench.start(["start", "--loop"] + options).result()
            #expect(refused.status == .exited(64))
            #expect(refused.errorText.contains(lack), "\(refused.errorText)")
        }
    }

    /// The first sentence is answered last; the stop tells of one that was refused.
    @Test func theTextsOfALoopComeInTheOrderOfSpeech() async throws {
        let folder = try TemporaryFolder()
        let gate = Gate()
        let bench = try talkingBench(
            [
                .answer(text: "one", after: gate), .answer(status: 400, text: "too bad"),
                .answer(text: "three"),
            ], in: folder)
        let file = folder.path("texts")
        let start = try await bench.run("start", "--loop", "--silence", "600ms", "-o", file)
        #expect(start.status == .exited(0), "\(start.errorText)")
        let isThirdAnswered = await comesTrue {
            // A folder may go while it is looked at.
            (try? bench.bench.takes().contains { try $0.manifestText.contains("three") }) == true
        }
        #expect(isThirdAnswered && !Folder.mayExist(at: file))
        gate.open()
        let hasBoth = await comesTrue {
            // It is not there yet.
            (try? readFile(file))?.starts(with: "one\nthree\n".utf8) == true
        }
        #expect(hasBoth)
        let stop = try await bench.run("stop")
        let words = ", before this one, has no text: utter show "
        #expect(stop.errorText.contains(words), "\(stop.errorText)")
        #expect(await comesTrue { !bench.hasSocket })
    }

    @Test func theTerminalThatHasBegunItMayClose() async throws {
        let terminal = try PseudoTerminal()
        let shell = try bench.bench.startShell(
            #""$0" start; echo "came back $?""#, [], terminal: terminal)
        _ = try await shell.result()
        _ = try #require(await bench.server.wait(untilBytes: 6_400))
        #expect(try await bench.run("stop").outputText == "heard\n")
        #expect(await hasEnded())
    }

    @Test(
        arguments: [
            ("--device", 66, "no capture device named 'none-such'"),
            ("--service", 64, "none-such"),
        ] as [(String, Int32, String)])
    func whatIsNotThereIsTheErrorOfTheStart(
        _ option: String, _ status: Int32, _ message: String
    ) async throws {
        let start = try await bench.run("start", option, "none-such")
        #expect(start.status == .exited(status))
        #expect(start.errorText.contains(message))
        #expect(await hasEnded())
        if option == "--service" { #expect(bench.card.account.opens == 0) }
    }

    @Test func aStopWhileTheMicrophoneIsOpenedLetsTheStartGo() async throws {
        bench.card.setHanging()
        let start = try bench.start("start", "-c", "recording.min=0")
        #expect(try await bench.reaches(.arming))
        #expect(start.status == nil)
        let stop = try bench.start("stop")
        #expect(try await start.result().status == .exited(0))
        bench.card.setHanging(false)
        _ = try await stop.result()
        #expect(await hasEnded())
    }

    @Test func twoStartsAtOnceRecordOneTake() async throws {
        let starts = [try bench.start("start"), try bench.start("start")]
        for start in starts { #expect(try await start.result().status == .exited(0)) }
        _ = try #require(await bench.server.wait(untilBytes: 6_400))
        #expect(try await bench.run("stop").outputText == "heard\n")
        #expect(await hasEnded())
        #expect(bench.card.account.opens == 1)
    }
}
