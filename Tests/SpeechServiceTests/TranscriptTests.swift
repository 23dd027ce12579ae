// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

@Suite("Transcript")
struct TranscriptTests {
    @Test func partialsReplaceAndFinalsStay() {
        var transcript = Transcript()
        transcript.apply(Hypothesis(text: "go", isFinal: false))
        transcript.apply(Hypothesis(text: " go for", isFinal: false))
        #expect(transcript.partial == "go for")
        #expect(transcript.text.isEmpty)
        #expect(transcript.displayText == "go for")
        transcript.apply(Hypothesis(text: "go forward ", isFinal: true))
        transcript.apply(Hypothesis(text: "", isFinal: true))
        transcript.apply(Hypothesis(text: "ten", isFinal: false))
        #expect(transcript.finals == ["go forward"])
        #expect(transcript.displayText == "go forward ten")
        transcript.apply(Hypothesis(text: "ten\n meters", isFinal: true))
        #expect(transcript.text == "go forward ten meters")
        #expect(transcript.partial.isEmpty)
    }

    @Test(arguments: [
        ("  a  b ", "a  b"), ("a\nb", "a b"), ("a \r\n\n b", "a b"), ("\n", ""),
        ("a\u{2028}b", "a b"),
        ("a\u{A0}b", "a\u{A0}b"), ("", ""),
    ])
    func textsAreKeptOnOneLine(text: String, line: String) {
        #expect(TerminalText.singleLine(text) == line)
    }

    /// Were each space to copy what stands before it, these would be four terabytes.
    @Test(.timeLimit(.minutes(2))) func aLongTextIsKeptOnOneLine() {
        let text = String(repeating: "a ", count: 1 << 21)
        #expect(TerminalText.singleLine(text).utf8.elementsEqual(text.utf8.dropLast()))
    }

    @Test(arguments: [
        ("\u{1B}[31mred\u{1B}[0m", "red"), ("a\tb\nc", "a\tb\nc"), ("a\r\u{7}\u{0}b", "ab"),
        ("a\u{7F}\u{80}\u{9B}\u{9F}b", "ab"), ("\u{202A}\u{202E}\u{2066}x\u{2069}", "x"),
        ("\u{200F}שלום", "\u{200F}שלום"), ("\u{1B}]0;title\u{7}x", "x"), ("a\u{9B}1;2 qb", "ab"),
        ("a\u{9D}8;;u\u{9C}b", "ab"),
        ("a\u{1B}P1$r\u{1B}\\b", "ab"), ("a\u{1B}(Bb\u{1B}7c", "abc"), ("a\u{1B}", "a"),
        // What ends nowhere takes no words along.
        ("\u{1B}]0;title\nmore", "0;title\nmore"), ("\u{1B}[31\u{E9}t\u{E9}", "\u{E9}t\u{E9}"),
        ("\u{1B}\u{1B}[1mx", "x"), ("x\u{1B}[", "x"),
        ("größe 🎤", "größe 🎤"),
    ])
    func nothingMovesTheCursor(text: String, shown: String) {
        #expect(TerminalText.sanitized(text) == shown)
    }

    @Test func controlsInTheTextDoNotReachTheDisplay() {
        var transcript = Transcript()
        transcript.apply(Hypothesis(text: "a\u{1B}[2Jb", isFinal: true))
        #expect(transcript.text == "a\u{1B}[2Jb")
        #expect(transcript.displayText == "ab")
    }

    @Test func onlyWhatIsNewIsTold() {
        var transcript = Transcript()
        let said = [("go", false), ("go", false), ("go", true), ("on", true)]
        let isNew = said.map { transcript.apply(Hypothesis(text: $0, isFinal: $1)) }
        #expect(isNew == [true, false, true, true])
        let again = transcript.apply(Hypothesis(text: "go", isFinal: true, merge: .replace))
        let twice = transcript.apply(Hypothesis(text: "go", isFinal: true, merge: .replace))
        #expect(again && !twice)
    }

    @Test func aCutTextKeepsWithinItsBytes() {
        #expect(TerminalText.cut("abc", to: 3) == "abc")
        #expect(TerminalText.cut("abcd", to: 3) == "…")
        #expect(TerminalText.cut("aüüü", to: 6) == "aü…")
    }
}
