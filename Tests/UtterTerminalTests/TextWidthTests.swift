// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterTerminal

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

    @Test func linesBreakBetweenWords() {
        #expect(
            TextWidth.wrapped("go forward ten meters", columns: 10) == [
                "go forward", "ten meters",
            ])
        #expect(
            TextWidth.wrapped("go forwards ten meters", columns: 10) == [
                "go", "forwards", "ten meters",
            ])
        #expect(TextWidth.wrapped("abcdefghij", columns: 4) == ["abcd", "efgh", "ij"])
        #expect(TextWidth.wrapped("", columns: 4) == [])
    }

    @Test func wideTextBreaksAnywhere() {
        #expect(TextWidth.wrapped("私の声はあなた", columns: 5) == ["私の", "声は", "あな", "た"])
    }

    @Test func theEndOfATextBeginsWithAMark() {
        #expect(TextWidth.suffix(of: "go forward", columns: 10) == "go forward")
        #expect(TextWidth.suffix(of: "go forward", columns: 9) == "… forward")
        #expect(TextWidth.suffix(of: "私の声は", columns: 6) == "…声は")
        #expect(TextWidth.suffix(of: "", columns: 6) == "")
    }
}
