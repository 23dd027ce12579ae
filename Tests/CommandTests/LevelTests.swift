// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Utter
@testable import UtterCommands

/// `utter level`.
@Suite struct LevelTests {
    private func card(
        _ pattern: [Int16], in folder: TemporaryFolder
    ) throws -> VirtualMicrophone {
        let samples = (0..<16_000).map { pattern[$0 % pattern.count] }
        var card = VirtualCard()
        card.rates = [16_000]
        card.content = .loop(path: try folder.write(WAVBytes.pcm(samples), to: "content"))
        return try VirtualMicrophone(card)
    }

    @Test func aGoodSignalIsStatusZeroWithPeakAndFloor() async throws {
        let folder = try TemporaryFolder()
        let bench = try Bench(microphone: try card([4_096, -4_096], in: folder))
        let result = try await bench.run("level", "--for", "500ms")
        #expect(result.status == .exited(0))
        let lines = result.outputText.split(separator: "\n").map(String.init)
        let opened = "microphone   16000 Hz mono S16_LE, a period of 20 ms"
        #expect(lines.contains { $0.hasPrefix(opened) })
        #expect(lines.contains("peak         -18.1 dBFS"))
        #expect(lines.contains("floor        -18.1 dBFS"))
        #expect(lines.contains("signal       good"))
        #expect(lines.contains { $0.hasPrefix("first sound  after ") })
        // Nothing is kept, and no service is asked for.
        #expect(try bench.takes().isEmpty)
        #expect(result.error.isEmpty)
    }

    @Test(
        arguments: [
            ([0], "1100ms", "digital-silence"), ([0, 1], "2200ms", "dead-input"),
            ([60, -60], "3200ms", "very-quiet"), ([.max, .min], "500ms", "clipping"),
        ] as [([Int16], String, String)])
    func whatIsWrongIsStatusOne(
        _ pattern: [Int16], _ length: String, _ fault: String
    ) async throws {
        let folder = try TemporaryFolder()
        let bench = try Bench(microphone: try card(pattern, in: folder))
        let result = try await bench.run("level", "--for", length, "--json")
        #expect(result.status == .exited(1))
        let object = try JSONText(result.output)
        #expect(object["faults"]?.array?.last == .string(fault))
        #expect(object["sampleRate"] == .number(16_000))
        #expect(object["firstFrameMs"]?.number != nil)
        #expect(object["voiceHeard"] == .bool(false))
        #expect(object["lostFrames"] == .number(0))
    }

    @Test func aSignalEndsItWithWhatWasHeard() async throws {
        let folder = try TemporaryFolder()
        let card = try card([4_096, -4_096], in: folder)
        let terminal = try PseudoTerminal()
        let run = try Bench(microphone: card).start(
            ["level"], input: .terminal, terminal: terminal)
        #expect(await run.wait(for: "##---------- -18 dBFS", in: .screen))
        run.signal(SIGINT)
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.outputText.contains("peak         -18.1 dBFS\n"))
    }

    @Test func aDeviceThatIsHeldIsSaid() async throws {
        let card = try VirtualMicrophone()
        card.setBusy()
        let result = try await Bench(microphone: card).run("level", "--for", "1s")
        #expect(result.status == .exited(66))
        #expect(result.errorText.contains("cannot record from 'default'"))
    }

    @Test func theLineFitsAndNamesWhatIsWrong() {
        let reading = SignalProbe.Reading(
            elapsed: .seconds(1), peakDecibels: -30, state: .clipped)
        #expect(
            LevelLine(reading).text(columns: 80)
                == String(repeating: "#", count: 15) + String(repeating: "-", count: 15)
                + " -30 dBFS  clipping")
        #expect(LevelLine(reading).text(columns: 20).count == 19)
    }
}
