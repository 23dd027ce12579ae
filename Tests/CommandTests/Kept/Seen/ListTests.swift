// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `utter list`, `show`, `last`, and how takes are named.
@Suite struct ListTests {
    @Test func theLastTranscriptIsTypedAgainOrPrintedWhereItCannotBe() async throws {
        let desk = try Desk()
        try desk.add("wtype")
        let bench = try Bench(server: .hearing("three"), desk.wayland)
        _ = try await bench.run("send", "-q", Clip.goForward.path)
        let typed = try await bench.run("last", "--type")
        #expect(typed.status == .exited(0) && typed.output.isEmpty)
        #expect(desk.text(of: "wtype") == "three")
        try desk.add("wtype", then: "exit 1")
        let printed = try await bench.run("last", "--type")
        #expect(printed.status == .exited(74))
        #expect(printed.outputText == "three\n")
    }

    @Test func aTerminalHasLinesThatFitAndAPipeGetsAllOfThem() async throws {
        let words = (1...40).map { "word\($0)" }.joined(separator: " ")
        let bench = try Bench(server: .hearing(words))
        _ = try await bench.run("send", "-q", Clip.goForward.path)
        for columns in [24, 200] as [UInt16] {
            let result = try await bench.start(
                ["list"], terminal: try PseudoTerminal(columns: columns), outputOnTerminal: true
            ).result()
            let screen = Screen(result.screenText, columns: Int(columns))
            #expect(screen.lines.count == 2)
            #expect(screen.lines.first?.hasSuffix("…") == true)
            #expect(!result.screen.contains(0x1B))
        }
        #expect(try await bench.here("list").outputText.hasSuffix("  \(words)\n"))

        let shown = try await bench.start(
            ["show"], terminal: try PseudoTerminal(columns: 60), outputOnTerminal: true
        ).result()
        let lines = Screen(shown.screenText, columns: 60).lines
        let start = try #require(lines.firstIndex { $0.hasPrefix("transcript  word1 ") })
        let folded = lines[start...].map { $0.dropFirst(12) }.joined(separator: " ")
        #expect(folded == words + " ")
        #expect(lines[start + 1].hasPrefix("            word"))
        #expect(try await bench.here("show").outputText.hasSuffix("transcript  \(words)\n"))
    }

    @Test func timesAreThoseOfTheWallClock() async throws {
        // 11 hours ahead of Greenwich, without a database of time zones.
        let bench = try Bench(["TZ": "FAR-11"])
        let take = try await bench.keep()
        let hour = try #require(Int(take.id.dropFirst(9).prefix(2)))
        let local = (hour + 11) % 24
        let minutes = take.id.dropFirst(11).prefix(2)
        let time = "\(local < 10 ? "0" : "")\(local):\(minutes)"
        #expect(try await bench.run("list").outputText.contains(" \(time) "))
        #expect(try await bench.run("show").outputText.contains(" \(time):"))
    }

    @Test func whatGoesOnBelowItsBeginningStandsRightBelowIt() async throws {
        let bench = try Bench()
        _ = try await bench.keep()
        let terminal = try PseudoTerminal(columns: 20)
        let result = try await bench.start(
            ["show"], terminal: terminal, outputOnTerminal: true
        ).result()
        let blank = String(repeating: " ", count: 12)
        // Behind the beginning of the request; the picture has blanks of its own.
        let lines = result.screenText.split(whereSeparator: \.isNewline)
            .drop { !$0.hasPrefix("  1 ") }.dropFirst().prefix { $0.hasPrefix(blank) }
        #expect(lines.contains { $0.hasPrefix(blank + "cannot") }, "\(result.screenText)")
        #expect(lines.allSatisfy { !$0.hasPrefix(blank + " ") }, "\(result.screenText)")
    }
}
