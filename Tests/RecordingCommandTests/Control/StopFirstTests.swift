// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter
@testable import UtterControl

/// A stop ends the recording whatever else is wrong, and prints a text that cannot go where it was
/// to go.
@Suite struct StopFirstTests {
    private let bench: ControlBench

    init() throws { bench = try ControlBench(.hearing("heard")) }

    @Test(
        arguments: [
            (["stop", "--frob"], 64), (["stop", "--type"], 78), (["stop", "--copy"], 78),
            (["stop", "-o", "/no-such-folder/x"], 74), (["toggle", "--frob"], 64),
            (["toggle", "--type"], 78), (["toggle", "--silence", "soon"], 64),
        ] as [([String], Int32)])
    func theTextIsPrintedAndTheStatusIsThatOfTheFault(
        _ words: [String], _ status: Int32
    ) async throws {
        let recorder = try await bench.record()
        let stop = try await bench.bench.start(words).result()
        #expect(stop.status == .exited(status), "\(stop.errorText)")
        #expect(stop.outputText == "heard\n")
        #expect(try await recorder.result().status == .exited(0))
    }

    @Test func aMisspeltCancelCancels() async throws {
        let recorder = try await bench.record()
        #expect(try await bench.run("cancel", "--frob").status == .exited(64))
        #expect(try await recorder.result().status == .exited(130))
    }

    @Test func aMisspeltStopForAnotherTakeAndHelpEndNothing() async throws {
        let recorder = try await bench.record()
        for words in [["--take", "none", "--frob"], ["--take=none", "--frob"], ["--help"]] {
            _ = try await bench.bench.start(["stop"] + words).result()
        }
        #expect(try await bench.status().phase == .recording)
        #expect(try await bench.run("stop").outputText == "heard\n")
        _ = try await recorder.result()
    }

    @Test(arguments: [
        ("stop", "language = de\n"), ("stop", "output.to = 'type'\n"),
        ("toggle", "language = de\n"), ("toggle", "output.to = 'nowhere'\n"),
        ("toggle", "output.to = 'type'\n"),
    ])
    func settingsThatBreakMeanwhileKeepNoMicrophoneOpen(
        _ command: String, _ text: String
    ) async throws {
        let recorder = try await bench.record()
        try bench.bench.configure(text)
        let stop = try await bench.run(command)
        #expect(stop.status == .exited(78), "\(stop.errorText)")
        #expect(stop.outputText == "heard\n")
        #expect(try await recorder.result().status == .exited(0))
    }

    @Test func aMisspeltStopWithoutARecordingComplainsAlone() async throws {
        for command in ["stop", "toggle", "cancel"] {
            let result = try await bench.run(command, "--frob")
            #expect(result.status == .exited(64))
            #expect(result.errorText.hasPrefix("utter: error: unknown option '--frob'\n"))
        }
        #expect(bench.card.account.opens == 0)
    }
}
