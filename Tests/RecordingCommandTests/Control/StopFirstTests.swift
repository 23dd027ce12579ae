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

    /// The words are wrong, or what the settings say since the recording began.
    @Test(
        arguments: [
            ("stop --frob", nil, 64), ("stop --type", nil, 78), ("stop --copy", nil, 78),
            ("stop -o /no-such-folder/x", nil, 74), ("toggle --frob", nil, 64),
            ("toggle --type", nil, 78), ("toggle --silence soon", nil, 64),
            ("stop", "language = de\n", 78), ("stop", "output.to = 'type'\n", 78),
            ("toggle", "language = de\n", 78), ("toggle", "output.to = 'nowhere'\n", 78),
            ("toggle", "output.to = 'type'\n", 78),
        ] as [(String, String?, Int32)])
    func theTextIsPrintedAndTheStatusIsThatOfTheFault(
        _ command: String, _ settings: String?, _ status: Int32
    ) async throws {
        let recorder = try await bench.record()
        if let settings { try bench.bench.configure(settings) }
        let stop = try await bench.bench.start(command.split(separator: " ").map(String.init))
            .result()
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

    @Test func aMisspeltStopWithoutARecordingComplainsAlone() async throws {
        for command in ["stop", "toggle", "cancel"] {
            let result = try await bench.run(command, "--frob")
            #expect(result.status == .exited(64))
            #expect(result.errorText.hasPrefix("utter: error: unknown option '--frob'\n"))
        }
        #expect(bench.card.account.opens == 0)
    }
}
