// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import UtterCLI

/// The way past the parser leads to where the parser would have led, or to the parser.
@Suite struct SendCommandTests {
    static let plainLines = [
        ["a.wav"], ["a.wav", "b.wav"], ["-q", "a.wav"], ["a.wav", "--quiet"], ["--json", "a.wav"],
        ["a.wav", "--to", "http://127.0.0.1:1/x", "-q"], ["--to", "u", "a.wav", "--json", "b.wav"],
        ["-q", "-q", "a.wav"], ["help"], ["a b", "ü.wav", "send"],
    ]

    @Test(arguments: plainLines)
    func aPlainLineIsWhatTheParserMakesOfIt(_ words: [String]) throws {
        let short = try #require(SendCommand.shortcut(words[...]))
        let parsed = try #require(try SendCommand.parseAsRoot(words) as? SendCommand)
        // Every option with its value, those included that are added one day.
        #expect(text(short) == text(parsed.sending))
    }

    static let otherLines = [
        [], [""], ["-q"], ["-"], ["a.wav", "-"], ["a.wav", "-v"], ["a.wav", "--"], ["--help"],
        ["a.wav", "--to"], ["a.wav", "--to", "-q"], ["a.wav", "--to", ""], ["a.wav", "--to=u"],
        ["a.wav", "--to", "u", "--to", "v"], ["-qv", "a.wav"], ["--pace", "2", "a.wav"],
    ]

    @Test(arguments: otherLines)
    func everyOtherLineIsForTheParser(_ words: [String]) {
        let short = SendCommand.shortcut(words[...])
        #expect(short.map { text($0) } == nil)
    }

    private func text(_ sending: Any) -> String {
        var text = ""
        dump(sending, to: &text)
        // The parser forgets the titles of groups, which are for help only.
        return text.split(separator: "\n").filter { !$0.contains("- title: ") }
            .joined(separator: "\n")
    }
}
