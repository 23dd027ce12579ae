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
