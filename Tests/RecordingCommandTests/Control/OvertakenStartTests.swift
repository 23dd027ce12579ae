// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import UtterControl

/// A key that goes up so soon that its release is told before its press.
@Suite struct OvertakenStartTests {
    private let bench: ControlBench

    init() throws { bench = try ControlBench(.hearing("heard")) }

    /// Begins the process of a press, which does not get on before a line comes.
    private func press() async throws -> CommandRun {
        let press = try bench.bench.startShell(
            "echo pressed; read -r line; exec \"$0\" start", [], input: .pipe)
        #expect(await press.wait(for: "pressed", in: .output))
        return press
    }

    @Test func aPressThatComesAfterItsReleaseRecordsNothing() async throws {
        for release in ["stop", "cancel"] {
            let press = try await press()
            #expect(try await bench.run(release).status == .exited(67))
            press.write(Array("\n".utf8))
            let pressed = try await press.result()
            #expect(pressed.status == .exited(1), "\(release)")
            #expect(
                pressed.errorText == "utter: error: the recording was stopped before it began\n")
            #expect(!bench.hasSocket)
            #expect(bench.card.account.opens == 0)
        }
        // The next press is another one, and its release may also end the recorder before a press.
        let recorder = try await bench.record()
        let late = try await press()
        #expect(try await bench.run("stop").outputText == "heard\n")
        #expect(try await recorder.result().status == .exited(0))
        late.write(Array("\n".utf8))
        #expect(try await late.result().status == .exited(1))
        #expect(bench.card.account.opens == 1)
    }

    @Test func aDaemonKnowsThePressThatComesAfterItsRelease() async throws {
        let daemon = try await bench.daemon()
        #expect(try await bench.run("start").status == .exited(0))
        _ = try #require(await bench.server.wait(untilBytes: 6_400))
        let press = try await press()
        #expect(try await bench.run("stop").outputText == "heard\n")
        press.write(Array("\n".utf8))
        let pressed = try await press.result()
        #expect(pressed.status == .exited(1))
        #expect(pressed.errorText.contains("stopped before it began"))
        #expect(try await bench.run("status").outputText == "idle\n")
        #expect(bench.card.account.opens == 1)
        #expect(try await bench.run("start").status == .exited(0))
        daemon.signal(SIGTERM)
        _ = try await daemon.result()
        #expect(bench.card.account.opens == 2)
    }

    @Test func thoseOfOneTickAreInTheOrderOfTheirNumbers() {
        let first = ProcessBeginning(ticks: 7, process: 10)
        #expect(first < ProcessBeginning(ticks: 7, process: 11))
        #expect(first < ProcessBeginning(ticks: 8, process: 2))
        #expect(!(first < first))
    }

    /// Whether a start that was begun then has been stopped already.
    private func forbids(_ place: SocketPlace, _ start: ProcessBeginning) -> Bool {
        place.lastEnd.map { start < $0 } ?? false
    }

    @Test func aMarkOfAnotherTimeForbidsNothing() throws {
        let folder = try TemporaryFolder()
        let place = try SocketPlace(user: 1) { $0 == "XDG_RUNTIME_DIR" ? folder.path : nil }
        let own = try #require(ProcessBeginning.own)
        #expect(own.isPast)
        #expect(!forbids(place, own))
        place.noteEnd(ProcessBeginning(ticks: own.ticks, process: own.process + 1))
        #expect(forbids(place, own))
        place.noteEnd(own)
        #expect(!forbids(place, own))
        place.noteEnd(ProcessBeginning(ticks: .max / 2, process: 1))
        #expect(!forbids(place, own))
    }
}
