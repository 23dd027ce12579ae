// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Utter
@testable import UtterCommands
@testable import UtterTerminal

@Suite struct LevelTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func aGoodSignalIsStatusZeroWithPeakAndFloor() async throws {
        let bench = try Bench(microphone: try .repeating([4_096, -4_096], in: folder))
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
            ([0], "1100ms", "digital-silence"), ([.max, .min], "500ms", "clipping"),
        ] as [([Int16], String, String)])
    func whatIsWrongIsStatusOne(
        _ pattern: [Int16], _ length: String, _ fault: String
    ) async throws {
        let bench = try Bench(microphone: try .repeating(pattern, in: folder))
        let result = try await bench.run("level", "--for", length, "--json")
        #expect(result.status == .exited(1))
        let object = try ParsedJSON(result.output)
        #expect(object["faults"]?.array?.last == .string(fault))
        #expect(object["sampleRate"] == .number(16_000))
        #expect(object["firstFrameMs"]?.number != nil)
        #expect(object["voiceHeard"] == .bool(false))
        #expect(object["lostFrames"] == .number(0))
    }

    @Test func aSignalEndsItWithWhatWasHeard() async throws {
        let card = try VirtualMicrophone.repeating([4_096, -4_096], in: folder)
        let terminal = try PseudoTerminal()
        let run = try Bench(microphone: card).start(
            ["level"], input: .terminal, terminal: terminal)
        #expect(await run.wait(for: "▏ -18 dBFS", in: .screen))
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

    private func reading(
        _ decibels: Float, _ state: SignalState = .good, loudest: Float? = -12.3
    ) -> SignalProbe.Reading {
        SignalProbe.Reading(
            elapsed: .seconds(1), peakDecibels: decibels, state: state, loudest: loudest,
            floor: loudest.map { _ in -60.5 })
    }

    @Test func theScreenHasTheMeterOfTakesAndWhatTheEndWouldSay() {
        let start = ContinuousClock.now
        var level = LevelState()
        let good = level.note(reading(-30), at: start)
        #expect(
            good.lines(columns: 80, rows: 24, hasColour: false, at: start) == [
                "level ▕████████████│           ▏ -30 dBFS",
                "peak -12.3 dBFS, floor -60.5 dBFS, signal good",
            ])
        // What was wrong once is a fault at the end.
        _ = level.note(reading(0, .clipped), at: start)
        let clipped = level.note(reading(-30), at: start)
        for columns in 24...200 {
            let lines = clipped.lines(columns: columns, rows: 24, hasColour: false, at: start)
            #expect(lines.allSatisfy { TextWidth.columns(of: $0) < columns })
            #expect(lines[0].hasPrefix("level ▕") && lines[0].hasSuffix("▏ -30 dBFS"))
            #expect(
                lines.dropFirst().joined(separator: " ")
                    == "peak -12.3 dBFS, floor -60.5 dBFS, signal \(SignalState.clipped.text)")
        }
    }

    @Test func aMicrophoneThatNeedsTimeHasNoFault() {
        let start = ContinuousClock.now
        var level = LevelState()
        let waiting = level.note(reading(-96, .absent, loudest: nil), at: start)
        #expect(waiting.words == "signal \(SignalState.absent.text)")
        #expect(level.note(reading(-30), at: start).words.hasSuffix("signal good"))
    }
}
