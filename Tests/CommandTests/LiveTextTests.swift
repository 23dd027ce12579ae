// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterCommands

/// One line that is drawn over itself, on terminals that change their width.
@Suite struct LiveTextTests {
    private static let long = "rec 0:04.2 ▅  the quick brown fox jumps over the lazy dog once more"

    @Test(arguments: Screen.Manner.allCases, [12, 20, 34, 70])
    func noOldPieceStaysOnANarrowerTerminal(_ manner: Screen.Manner, _ columns: Int) {
        var screen = Screen("above\r\n", columns: 80)
        screen.show(LiveText.drawing(Self.long))
        screen.resize(to: columns, manner)
        screen.show(LiveText.drawing("rec …once more"))
        #expect(screen.lines.count == 2)
        #expect(screen.lines.first == "above")
        screen.show(LiveText.erasure())
        #expect(screen.lines == ["above", ""])
        #expect(screen.strangeControls.isEmpty)
    }

    @Test(arguments: Screen.Manner.allCases)
    func aLineForAWiderTerminalIsCutAndNotWrapped(_ manner: Screen.Manner) {
        var screen = Screen("above\r\n", columns: 80)
        // The width was asked for, and changed before the line was written.
        screen.resize(to: 30, manner)
        screen.show(LiveText.drawing(Self.long))
        #expect(screen.lines.count == 2)
        screen.show(LiveText.erasure())
        #expect(screen.lines == ["above", ""])
    }
}
