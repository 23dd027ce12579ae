// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Utter

/// `utter start` and `toggle` by themselves: they come back, and a recorder goes on.
@Suite struct BackgroundStartTests {
    private static let background = ["UTTER_FOREGROUND": "false"]

    /// Whether the recorder has ended: the socket has no name any more.
    private func hasEnded(_ bench: ControlBench) async -> Bool {
        await onOwnThread {
            let deadline = MonotonicTime.now + .patience
            while bench.hasSocket, MonotonicTime.now < deadline { poll(nil, 0, 10) }
            return !bench.hasSocket
        }
    }

    @Test(arguments: ["start", "toggle"])
    func aStartComesBackAndAStopPrintsTheText(_ command: String) async throws {
        let bench = try ControlBench(.hearing("in the background"), Self.background)
        let start = try await bench.run(command)
        #expect(start.status == .exited(0))
        #expect(start.outputText == "")
        #expect(start.errorText.wholeMatch(of: /utter: recording take [0-9a-z-]+\n/) != nil)
        #expect(try await bench.run("status").outputText.hasPrefix("recording"))
        _ = try #require(await bench.server.wait(untilBytes: 6_400))
        let second = try await bench.run("start")
        #expect(second.errorText.hasPrefix("utter: already recording take "))
        let stop = try await bench.run(command == "start" ? "stop" : "toggle")
        #expect(stop.outputText == "in the background\n")
        #expect(stop.status == .exited(0))
        #expect(await hasEnded(bench))
        let body = try #require(bench.server.requests.first?.body)
        #expect(body == RecordTests.samples(body.count / 2))
        #expect(bench.card.account.opens == 1)
    }

    @Test func theTerminalThatHasBegunItMayClose() async throws {
        let bench = try ControlBench(.hearing("alone"), Self.background)
        let terminal = try PseudoTerminal()
        let shell = try bench.bench.startShell(
            #""$0" start; echo "came back $?""#, [], terminal: terminal)
        _ = try await shell.result()
        _ = try #require(await bench.server.wait(untilBytes: 6_400))
        #expect(try await bench.run("stop").outputText == "alone\n")
        #expect(await hasEnded(bench))
    }

    @Test func aMicrophoneThatIsNotThereIsTheErrorOfTheStart() async throws {
        let bench = try ControlBench(.hearing(""), Self.background)
        let start = try await bench.run("start", "--device", "no-such")
        #expect(start.status == .exited(66))
        #expect(start.errorText.contains("no capture device named 'no-such'"))
        #expect(await hasEnded(bench))
    }

    @Test func aServiceThatIsNotThereIsTheErrorOfTheStart() async throws {
        let bench = try ControlBench(.hearing(""), Self.background)
        let start = try await bench.run("start", "--service", "none-such")
        #expect(start.status == .exited(64))
        #expect(start.errorText.contains("none-such"))
        #expect(await hasEnded(bench))
        #expect(bench.card.account.opens == 0)
    }

    @Test func aStopWhileTheMicrophoneIsOpenedLetsTheStartGo() async throws {
        let bench = try ControlBench(.hearing("early"), Self.background)
        bench.card.setHanging()
        let start = try bench.start("start", "-c", "recording.min=0")
        #expect(try await bench.reaches(.arming))
        #expect(start.status == nil)
        let stop = try bench.start("stop")
        #expect(try await start.result().status == .exited(0))
        bench.card.setHanging(false)
        _ = try await stop.result()
        #expect(await hasEnded(bench))
    }

    @Test func twoStartsAtOnceRecordOneTake() async throws {
        let bench = try ControlBench(.hearing("one"), Self.background)
        let starts = [try bench.start("start"), try bench.start("start")]
        for start in starts { #expect(try await start.result().status == .exited(0)) }
        _ = try #require(await bench.server.wait(untilBytes: 6_400))
        #expect(try await bench.run("stop").outputText == "one\n")
        #expect(await hasEnded(bench))
        #expect(bench.card.account.opens == 1)
    }
}
