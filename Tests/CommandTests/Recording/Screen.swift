// SPDX-License-Identifier: Apache-2.0

@testable import UtterCommands
@testable import UtterTerminal

/// What a terminal shows after bytes were written to it: the few controls that `utter` may use.
struct Screen {
    /// One character and how many columns it takes; what continues a wide one takes none.
    private typealias Cell = Character

    private struct Row {
        var cells: [Cell] = []
    }

    /// Every state of the live line, and every line that was left.
    private(set) var drawn: [String] = []
    /// Controls that are none of those below.
    private(set) var strangeControls: [String] = []
    /// Colours that were set.
    private(set) var colours = 0
    private var rows = [Row()]
    private var row = 0
    private var column = 0
    private var columns: Int
    private var wraps = true

    /// Shows text on a terminal that is wide enough for any line, unless told otherwise.
    init(_ text: String = "", columns: Int = 1_000) {
        self.columns = columns
        show(text)
    }

    /// The rows without blanks at their ends; the last one is where the cursor is, or below it.
    var lines: [String] { rows.map { Self.text($0.cells) } }

    /// Takes in more of what was written.
    mutating func show(_ text: String) {
        var rest = text.unicodeScalars[...]
        var printable = ""
        while let scalar = rest.popFirst() {
            guard scalar == "\u{1B}" || scalar.value < 0x20 else {
                printable.unicodeScalars.append(scalar)
                continue
            }
            printable.forEach { put($0) }
            printable = ""
            switch scalar {
            case "\r": column = 0
            case "\n": endLine()
            case "\u{1B}":
                let code = rest.prefix { !("a"..."z" ~= $0 || "A"..."Z" ~= $0) }
                rest = rest.dropFirst(code.count)
                let final = rest.popFirst().map { String($0) } ?? ""
                control(String(String.UnicodeScalarView(code)) + final)
            default: strangeControls.append("\(scalar.value)")
            }
        }
        printable.forEach { put($0) }
    }

    private mutating func put(_ character: Character) {
        let width = TextWidth.columns(of: character)
        if column + width > columns {
            guard wraps else { return }
            row += 1
            column = 0
            rows.insert(Row(), at: row)
        }
        while rows[row].cells.count < column + width { rows[row].cells.append(" ") }
        if width > 0 { rows[row].cells[column] = character }
        // What a wide character covers beside its own cell is nothing.
        if width == 2 { rows[row].cells[column + 1] = "\0" }
        column += width
    }

    private mutating func control(_ code: String) {
        switch code {
        case "[J":
            let kept = rows[row].cells.prefix(column)
            rows[row].cells = Array(kept)
            rows.removeSubrange((row + 1)...)
        case "[K": rows[row].cells = Array(rows[row].cells.prefix(column))
        case _ where code.hasPrefix("[") && code.hasSuffix("A"):
            let count = Int(code.dropFirst().dropLast()) ?? 1
            strangeControls += count > row ? ["above the top \(code)"] : []
            row = max(0, row - count)
        case "[?7l": wraps = false
        case "[?7h":
            wraps = true
            note()
        case _ where code.hasSuffix("m"): colours += 1
        case _ where EmulatedKeyboard.codes.contains(code): break
        default: strangeControls.append(code)
        }
    }

    private mutating func endLine() {
        note()
        row += 1
        if row == rows.count { rows.append(Row()) }
        column = 0
    }

    private mutating func note() {
        let text = Self.text(rows[row].cells)
        if !text.isEmpty { drawn.append(text) }
    }

    private static func text(_ cells: [Cell]) -> String {
        var cells = cells.filter { $0 != "\0" }
        while cells.last == " " { cells.removeLast() }
        return String(cells)
    }
}
