// SPDX-License-Identifier: Apache-2.0

/// A terminal of any height, as it looks after bytes were written to it.
package struct Screen {
    private var window: EmulatedScreen

    /// Shows text on a terminal that is wide enough for any line, unless told otherwise.
    package init(_ text: String, columns: Int = 1_000) {
        window = EmulatedScreen(columns: columns, rows: .max)
        window.show(text)
    }

    /// The rows without blanks at their ends, down to the one where the cursor is.
    package var lines: [String] {
        let lines = window.lines
        let empty = max(0, window.cursor.row + 1 - lines.count)
        return lines + Array(repeating: "", count: empty)
    }

    /// Every state of the live line, and every line that was left.
    package var drawn: [String] { window.drawn }

    /// How often a colour was set.
    package var colours: Int { window.colours }

    /// Controls that `utter` may not use.
    package var strangeControls: [String] {
        window.strangeControls.filter { !EmulatedKeyboard.codes.contains($0) }
    }
}
