// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterTerminal

/// Lines that are drawn over themselves, on terminals that change their size.
@Suite struct LiveTextTests {
    private static let long = [
        "speak 0:04.2 ▕██████      │  ▏ safe",
        "the quick brown fox jumps over the lazy dog once more, and then it",
        "sleeps 私の声は for a while",
    ]

    private static func screen(columns: Int = 80, rows: Int = 24) -> EmulatedScreen {
        var screen = EmulatedScreen(columns: columns, rows: rows)
        screen.show("above\r\n")
        return screen
    }

    @Test(arguments: EmulatedScreen.Manner.allCases, [10, 12, 20, 34, 70, 200])
    func noOldPieceStaysOnATerminalOfAnotherWidth(
        _ manner: EmulatedScreen.Manner, _ columns: Int
    ) {
        var screen = Self.screen()
        screen.show(LiveText.drawing(Self.long))
        screen.resize(columns: columns, rows: 24, manner)
        screen.show(LiveText.drawing(["speak", "…more"]))
        #expect(screen.lines == ["above", "speak", "…more"])
        screen.show(LiveText.erasure())
        #expect(screen.lines == ["above"])
        #expect(screen.cursor == (1, 0))
        #expect(screen.strangeControls.isEmpty)
    }

    @Test(arguments: EmulatedScreen.Manner.allCases)
    func aLineForAWiderTerminalIsCutAndNotWrapped(_ manner: EmulatedScreen.Manner) {
        var screen = Self.screen()
        // The width was asked for, and changed before the lines were written.
        screen.resize(columns: 30, rows: 24, manner)
        screen.show(LiveText.drawing(Self.long))
        #expect(screen.lines.count == 4)
        screen.show(LiveText.erasure())
        #expect(screen.lines == ["above"])
    }

    @Test func atTheLowestRowTheLinesMakeRoomForThemselves() {
        var screen = EmulatedScreen(columns: 40, rows: 4)
        for number in 1...4 { screen.show("line \(number)\r\n") }
        for lines in [["a"], ["a", "b"], ["a", "b", "c"], ["d", "e"]] {
            screen.show(LiveText.drawing(lines))
        }
        #expect(screen.scrolledOut == ["line 1", "line 2", "line 3"])
        #expect(screen.lines == ["line 4", "d", "e"])
        screen.show(LiveText.erasure() + "the text\r\n")
        #expect(screen.lines == ["line 4", "the text"])
        #expect(screen.strangeControls.isEmpty)
    }

    @Test func whatIsTheSameIsNeverClearedFirst() {
        // A cell that is written without being cleared before does not flicker.
        let codes = LiveText.drawing(Self.long)
        let start = codes.firstRange(of: "speak")?.lowerBound
        let clearing = codes.firstRange(of: "\u{1B}[K")?.lowerBound
        #expect(start.map { $0 < clearing ?? codes.startIndex } == true)
        #expect(
            codes.firstRange(of: "\u{1B}[J")?.lowerBound
                == codes.firstRange(of: "while")?.upperBound)
    }
}

@Suite struct TextWidthTests {
    static let texts = [
        "go forward ten meters", "私の声はあなたの声のように聞こえますか本当に", "naïve caf\u{65}\u{301}s",
        "a family 👨‍👩‍👧‍👦 and a flag 🇯🇵 and ❤️ and 👍🏽 and 1️⃣ here", "한국어 목소리 \u{1112}\u{1161}\u{11AB}",
        "नमस्ते दुनिया", "Z̸a̸l̸g̸o̸", "supercalifragilisticexpialidocious", "one 私 two",
    ]

    /// A message, a width, and its lines.
    @Test(arguments: [
        ("utter: press Space or Enter to stop", 30, "utter: press Space or Enter to|stop"),
        (
            "utter: hint: send it with: utter retry 2026-abc", 44,
            "utter: hint: send it with:|utter retry 2026-abc"
        ),
        (
            "utter: hint: see it with: utter show 2026; or send the file once more", 50,
            "utter: hint: see it with: utter show 2026; or send|the file once more"
        ),
        // A path that is longer than half a line is not moved, and not cut by a line feed.
        (
            "utter: kept: /home/anna/.local/state/utter/takes/2026/audio.wav (0:03)", 40,
            "utter: kept: /home/anna/.local/state/utter/takes/2026/audio.wav (0:03)"
        ),
        ("a line that is full", 19, "a line that is full"), ("full and more", 8, "full and|more"),
        ("short", 80, "short"),
    ])
    func aMessageBreaksBetweenWordsAndNotInACommand(
        _ text: String, _ columns: Int, _ lines: String
    ) {
        #expect(TextWidth.folded(text, columns: columns) == lines.replacing("|", with: "\n"))
    }

    @Test(arguments: texts, [9, 10, 39, 79, 199])
    func noLineIsWiderThanATerminalDrawsIt(_ text: String, _ columns: Int) {
        let lines = TextWidth.wrapped(text, columns: columns)
        for line in lines {
            #expect(TextWidth.columns(of: line) <= columns)
            // Of the same opinion is the C library, or thinks that there is room.
            var screen = EmulatedScreen(columns: columns, rows: 2)
            screen.show("\u{1B}[?7l" + line)
            #expect(screen.cutCharacters == 0, "\(line)")
        }
        // Nothing is lost but spaces at the breaks.
        #expect(
            lines.joined().filter { $0 != " " } == text.filter { $0 != " " }, "\(lines)")
    }

    @Test(arguments: [
        ("go forward ten meters", 10, ["go forward", "ten meters"]),
        ("go forwards ten meters", 10, ["go", "forwards", "ten meters"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]), ("", 4, []),
        ("私の声はあなた", 5, ["私の", "声は", "あな", "た"]),
    ])
    func linesBreakBetweenWordsAndWideTextAnywhere(
        _ text: String, _ columns: Int, _ lines: [String]
    ) {
        #expect(TextWidth.wrapped(text, columns: columns) == lines)
    }

    @Test func theEndOfATextBeginsWithAMark() {
        #expect(TextWidth.suffix(of: "go forward", columns: 10) == "go forward")
        #expect(TextWidth.suffix(of: "go forward", columns: 9) == "… forward")
        #expect(TextWidth.suffix(of: "私の声は", columns: 6) == "…声は")
        #expect(TextWidth.suffix(of: "", columns: 6) == "")
    }
}
