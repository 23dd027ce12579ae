// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LinuxPlatform

@Suite struct TerminalTextTests {
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

    @Test func aCutTextKeepsWithinItsBytes() {
        #expect(TerminalText.cut("abc", to: 3) == "abc")
        #expect(TerminalText.cut("abcd", to: 3) == "…")
        #expect(TerminalText.cut("aüüü", to: 6) == "aü…")
    }
}
