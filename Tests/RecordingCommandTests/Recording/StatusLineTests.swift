// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// What a terminal shows of a running take.
@Suite struct StatusLineTests {
    /// Speaks a second, hears partial texts meanwhile, presses Enter, and returns what the terminal
    /// showed.
    private func run(
        columns: UInt16 = 80, partial: String = "so it begins", _ arguments: [String] = [],
        variables: [String: String] = [:], outputOnTerminal: Bool = false, isDrawn: Bool = true
    ) async throws -> (Screen, CommandResult) {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(otherwise: [
            .readHead, .readBody(bytes: 8_000),
            .beginResponse(
                status: 200, headers: [HeaderField("Content-Type", "application/x-ndjson")]),
            .sendBodyChunk(text: #"{"type":"partial","text":"\#(partial)"}"# + "\n"),
            .readBodyToEnd,
            .sendBodyChunk(text: #"{"type":"final","text":"so it ended"}"# + "\n"), .endResponse,
        ])
        let terminal = try PseudoTerminal(columns: columns)
        let run = try Bench(server: server, microphone: card, variables).start(
            arguments, input: .terminal, terminal: terminal, outputOnTerminal: outputOnTerminal)
        _ = try #require(await server.wait(untilBytes: 32_000))
        if isDrawn { #expect(await run.wait(for: String(partial.suffix(4)), in: .screen)) }
        try terminal.type("\n")
        let result = try await run.result()
        return (Screen(result.screenText), result)
    }

    /// Controls in a partial text do not reach the terminal.
    @Test func itShowsTimeLevelAndPartialTextAndIsGoneWhenTheTranscriptIsPrinted() async throws {
        let partial = #"so it\u001b[2J\u001b]0;x\u0007\nbegins"#
        let (screen, result) = try await run(partial: partial, outputOnTerminal: true)
        #expect(result.status == .exited(0))
        #expect(screen.strangeControls.isEmpty)
        let recording = screen.drawn.filter { $0.hasPrefix("speak ") }
        #expect(recording.count > 1)
        #expect(
            recording.contains {
                $0.wholeMatch(of: /speak 0:0\d\.\d ▕[█▏▎▍▌▋▊▉│ ]{24}▏ safe 127\.0\.0\.1:\d+/) != nil
            }, "\(recording)")
        #expect(screen.drawn.contains("so it begins"))
        #expect(screen.colours > 0)
        #expect(
            screen.lines == [
                "utter: recording from default, 16000 Hz mono; press Space or Enter to stop",
                "so it ended", "",
            ])
        // Nothing is drawn behind the transcript.
        #expect(result.screenText.hasSuffix("so it ended\r\n"))
    }

    @Test func itWaitsOnceAllIsSentAndCountsTheSeconds() async throws {
        let mayAnswer = Gate()
        let server = try RecordingServer(otherwise: [
            .readHead, .readBodyToEnd, .stallUntil(mayAnswer), .respond(status: 200, text: "done"),
        ])
        let terminal = try PseudoTerminal()
        let run = try Bench(server: server).start(
            ["send", Clip.goForward.path], terminal: terminal)
        // Nothing happens any more, and the line goes on all the same.
        let isCounting = await run.wait(in: .screen) { screen in
            let times = String(decoding: screen, as: UTF8.self).matches(of: /\d:\d\d\.\d/)
            return Set(times.map(\.0)).count > 2
        }
        #expect(isCounting)
        mayAnswer.open()
        let result = try await run.result()
        #expect(result.outputText == "done\n")
        let drawn = Screen(result.screenText).drawn
        #expect(!drawn.contains { $0.contains("kB") })
    }

    @Test func sendingShowsItsProgressAfterTheFileWasRead() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "done"))
        let terminal = try PseudoTerminal()
        // 85 kB in a second and a third.
        let result = try await Bench(server: server).run(
            "send", "-c", "transfer.catch-up=64k", Clip.goForward.path, terminal: terminal)
        #expect(result.outputText == "done\n")
        let drawn = Screen(result.screenText).drawn
        let percents = drawn.compactMap {
            $0.wholeMatch(of: /sending (\d+)% 127\.0\.0\.1:\d+/).flatMap { Int($0.1) }
        }
        #expect(Set(percents).count > 1, "\(drawn)")
        #expect(percents == percents.sorted())
    }

    @Test func aWindowOfAnotherSizeIsDrawnThoughNothingHappens() async throws {
        let card = try VirtualMicrophone()
        // It opens, and never delivers a frame.
        card.setHanging()
        let terminal = try PseudoTerminal(columns: 80)
        let run = try Bench(server: try RecordingServer.hearing("no"), microphone: card).start(
            [], input: .terminal, terminal: terminal)
        #expect(await run.wait(for: "opening", in: .screen))
        try terminal.resize(columns: 30)
        let isDrawnAgain = await run.wait(in: .screen) { screen in
            String(decoding: screen, as: UTF8.self).matches(of: /opening/).count > 1
        }
        #expect(isDrawnAgain)
        run.signal(SIGTERM)
        let result = try await run.result()
        // No frame has come, so nothing was said about speaking.
        #expect(!result.screenText.contains("speak"))
        #expect(!result.screenText.contains("recording from"))
    }

    @Test func plainLinesSayOutageReturnAndStopOnceEach() async throws {
        let card = try VirtualMicrophone()
        let mayAnswer = Gate()
        // An outage is told when it has lasted until a second after the line before.
        let server = try RecordingServer(
            scripts: [[.readHead, .readBody(bytes: 48_000), .reset]],
            otherwise: [
                .readHead, .readBodyToEnd, .stallUntil(mayAnswer),
                .respond(status: 200, text: "at last"),
            ])
        let run = try Bench(server: server, microphone: card).start([])
        #expect(await run.wait(for: "utter: connected again\n", in: .error))
        _ = try #require(await server.wait(untilBytes: 8_000, ofRequest: 1))
        run.signal(SIGUSR1)
        #expect(await run.wait(for: "waiting for the text\n", in: .error))
        mayAnswer.open()
        let result = try await run.result()
        #expect(result.outputText == "at last\n")
        let lines = result.errorText.split(separator: "\n")
        #expect(lines.filter { $0.hasSuffix("trying again") }.count == 1)
        #expect(lines.filter { $0 == "utter: connected again" }.count == 1)
        #expect(lines.filter { $0.hasPrefix("utter: recording stopped after ") }.count == 1)
        #expect(result.hasPlainErrors)
    }

    /// An empty NO_COLOR is as good as none.
    @Test func itIsCutToTheWidth() async throws {
        let partial = "a rather long text that goes on and on for ever and ever"
        let (screen, _) = try await run(
            columns: 20, partial: partial, variables: ["NO_COLOR": ""])
        #expect(screen.colours > 0)
        // Before it stands a message, which is folded.
        let live = screen.drawn.drop { !$0.hasPrefix("speak ") }
            .filter { !$0.hasPrefix("utter: ") && $0 != "so it ended" }
        #expect(!live.isEmpty)
        #expect(live.allSatisfy { $0.count < 20 }, "\(live)")
        // The words are wrapped, and none is missing.
        let words = live.filter { !$0.hasPrefix("speak ") }.joined(separator: " ")
        #expect(words.contains(partial), "\(live)")
    }

    @Test func noColourMeansNoColours() async throws {
        let (screen, result) = try await run(variables: ["NO_COLOR": "1"])
        #expect(result.outputText == "so it ended\n")
        #expect(screen.colours == 0)
        #expect(screen.drawn.contains { $0.hasPrefix("speak ") })
    }

    @Test(arguments: [(["--plain"], [:]), ([], ["UTTER_PLAIN": "true"]), ([], ["TERM": "dumb"])])
    func plainMeansNoControlsOnAnyTerminal(
        _ arguments: [String], _ variables: [String: String]
    ) async throws {
        let (screen, result) = try await run(arguments, variables: variables, isDrawn: false)
        #expect(result.status == .exited(0))
        #expect(!result.screen.contains(0x1B))
        #expect(!screen.drawn.contains { $0.hasPrefix("speak ") })
        #expect(screen.lines.first?.hasPrefix("utter: recording from default") == true)
    }

    @Test func quietDrawsNothing() async throws {
        let (screen, result) = try await run(["-q"], isDrawn: false)
        #expect(result.status == .exited(0))
        // What it writes to the terminal is about keys alone.
        #expect(screen.lines == [""])
        #expect(screen.strangeControls.isEmpty)
        #expect(screen.drawn.isEmpty)
    }

    @Test func anEnterBeforeTheLineIsThereErasesNothing() async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("heard"))
        let terminal = try PseudoTerminal()
        // The screen has it before the program draws anything.
        try terminal.type("\n")
        let run = try Bench(server: server, microphone: card).start(
            [], input: .terminal, terminal: terminal)
        #expect(await run.wait(for: " 0:00.", in: .screen))
        run.signal(SIGUSR1)
        let screen = Screen(try await run.result().screenText)
        #expect(screen.lines.contains { $0.hasPrefix("utter: recording from default, ") })
        #expect(screen.strangeControls.isEmpty)
    }
}
