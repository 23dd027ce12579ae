// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The one line on a terminal that shows a running take.
@Suite struct StatusLineTests {
    /// Speaks a second, hears partial texts meanwhile, presses Enter, and returns what the terminal
    /// showed.
    private func run(
        columns: UInt16 = 80, partial: String = "so it begins", _ arguments: [String] = [],
        variables: [String: String] = [:], outputOnTerminal: Bool = false
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
        // A second and a half: time enough for the partial to be drawn.
        _ = try #require(await server.wait(untilBytes: 48_000))
        try terminal.type("\n")
        let result = try await run.result()
        return (Screen(result.screenText), result)
    }

    @Test func itShowsTimeLevelBytesAndPartialText() async throws {
        let (screen, result) = try await run()
        #expect(result.status == .exited(0))
        #expect(result.outputText == "so it ended\n")
        #expect(screen.strangeControls.allSatisfy { $0 == "[A" })
        let recording = screen.drawn.filter { $0.hasPrefix("rec ") }
        #expect(recording.count > 5)
        #expect(
            recording.contains {
                $0.wholeMatch(
                    of: /rec 0:0\d\.\d [▁▂▃▄▅▆▇█] \d+ kB kept, \d+ kB sent  so it begins/) != nil
            }, "\(recording)")
        #expect(screen.drawn.contains { $0.hasPrefix("wait ") })
        #expect(screen.colours > 0)
    }

    @Test func itIsGoneWhenTheTranscriptIsPrinted() async throws {
        let (screen, result) = try await run(outputOnTerminal: true)
        #expect(
            screen.lines == [
                "utter: recording from default, 16000 Hz mono; press Enter to stop",
                "so it ended", "",
            ])
        // Nothing is drawn behind the transcript.
        #expect(result.screenText.hasSuffix("so it ended\r\n"))
    }

    @Test(arguments: [20, 40, 79] as [UInt16])
    func itIsCutToTheWidth(_ columns: UInt16) async throws {
        let (screen, _) = try await run(
            columns: columns, partial: "a rather long text that goes on and on for ever and ever")
        let live = screen.drawn.filter { $0.hasPrefix("rec ") || $0.hasPrefix("wait ") }
        #expect(!live.isEmpty)
        #expect(live.allSatisfy { $0.count < Int(columns) }, "\(live)")
        if columns == 79 { #expect(live.contains { $0.hasSuffix("ever and ever") }) }
    }

    @Test func wideCharactersCountTwice() async throws {
        let (screen, _) = try await run(
            columns: 60, partial: "私の声はあなたの声のように聞こえますか本当にそうですか")
        let live = screen.drawn.filter { $0.contains("そうですか") }
        #expect(!live.isEmpty)
        let columns = live.map { line in
            line.reduce(0) { $0 + ($1.unicodeScalars.allSatisfy { $0.value > 0x3000 } ? 2 : 1) }
        }
        #expect(columns.allSatisfy { $0 < 60 }, "\(live)")
    }

    @Test func noColourMeansNoColours() async throws {
        let (screen, _) = try await run(variables: ["NO_COLOR": "1"])
        #expect(screen.colours == 0)
        #expect(screen.drawn.contains { $0.hasPrefix("rec ") })
    }

    @Test func anEmptyNoColourIsAsGoodAsNone() async throws {
        let (screen, _) = try await run(variables: ["NO_COLOR": ""])
        #expect(screen.colours > 0)
    }

    @Test func aDumbTerminalGetsPlainLines() async throws {
        let (screen, result) = try await run(variables: ["TERM": "dumb"])
        #expect(result.status == .exited(0))
        #expect(!result.screen.contains(0x1B))
        #expect(!screen.drawn.contains { $0.hasPrefix("rec ") })
        #expect(screen.lines.first?.hasPrefix("utter: recording from default") == true)
    }

    @Test func quietDrawsNothing() async throws {
        let (screen, result) = try await run(["-q"])
        #expect(result.status == .exited(0))
        #expect(!result.screen.contains(0x1B))
        #expect(screen.drawn.isEmpty)
    }

    @Test func controlsInAPartialDoNotReachTheTerminal() async throws {
        let (screen, _) = try await run(partial: #"evil\u001b[2J\u001b]0;x\u0007\nbell"#)
        #expect(screen.strangeControls.allSatisfy { $0 == "[A" })
        #expect(screen.drawn.contains { $0.contains("evil[2J]0;x bell") })
    }
}
