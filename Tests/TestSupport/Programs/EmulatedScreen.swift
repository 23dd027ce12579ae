// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The window of a terminal: what a person sees after a program has written.
///
/// Knows the controls that `utter` may use, and remembers all others as strange. How wide a
/// character is it has from the C library, as most terminals do.
package struct EmulatedScreen {
    /// What a terminal does with long lines when it is made narrower.
    package enum Manner: CaseIterable, Sendable {
        /// It wraps them, and joins what it wrapped when it is made wider, as most do.
        case wrapping
        /// It cuts them, as xterm and the Linux console do.
        case cutting
    }

    private struct Row {
        /// What each column shows; what a wide character covers beside its own cell is empty.
        var cells: [String] = []
        /// Whether the terminal itself broke the line at the end of this row.
        var isWrapped = false
    }

    package var scrolledOut: [String] { history.map { Self.text($0) } }

    /// The rows of the window from the top to the last that is not empty, without blanks at the end.
    package var lines: [String] {
        var lines = rows.map { Self.text($0) }
        while lines.last == "" { lines.removeLast() }
        return lines
    }

    /// The row and the column of the cursor, from 0.
    package private(set) var cursor = (row: 0, column: 0)
    /// Controls that are none of those known here.
    package private(set) var strangeControls: [String] = []
    /// Characters for which a row had no room.
    package private(set) var cutCharacters = 0
    /// Every row that was ended or finished drawing, as it was then.
    package private(set) var drawn: [String] = []
    /// How often a colour was set.
    package private(set) var colours = 0

    /// `wcwidth(3)`, which the headers hide without a feature macro.
    private static let width: @convention(c) (Int32) -> Int32 = {
        unsafeBitCast(dlsym(nil, "wcwidth"), to: (@convention(c) (Int32) -> Int32).self)
    }()

    private var history: [Row] = []
    private var rows: [Row] = [Row()]
    private var size: (columns: Int, rows: Int)
    private var wraps = true

    package init(columns: Int, rows: Int) {
        // Without it the library knows ASCII only.
        setlocale(LC_CTYPE, "C.UTF-8")
        size = (columns, rows)
    }

    package mutating func show(_ text: String) {
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\r": cursor.column = 0
            case "\n":
                note()
                feedLine()
            case "\u{1B}":
                let code = rest.prefix { !("a"..."z" ~= $0 || "A"..."Z" ~= $0) }
                rest = rest.dropFirst(code.count)
                let final = rest.popFirst().map { String($0) } ?? ""
                control(String(String.UnicodeScalarView(code)) + final)
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                strangeControls.append("\(scalar.value)")
            default: put(scalar)
            }
        }
    }

    /// Gives the window another size; the cursor stays with its character.
    package mutating func resize(columns: Int, rows count: Int, _ manner: Manner) {
        size = (columns, count)
        switch manner {
        case .cutting:
            for index in rows.indices {
                rows[index].cells.removeLast(max(0, rows[index].cells.count - columns))
                rows[index].isWrapped = false
            }
        case .wrapping: wrapAnew()
        }
        cursor.column = min(cursor.column, columns - 1)
        // Empty rows below the cursor go first, then the topmost.
        while rows.count > count, rows.count > cursor.row + 1,
            Self.text(rows[rows.count - 1]).isEmpty
        {
            rows.removeLast()
        }
        while rows.count > count {
            if cursor.row == 0 {
                rows.removeLast()
            } else {
                history.append(rows.removeFirst())
                cursor.row -= 1
            }
        }
    }

    private mutating func wrapAnew() {
        var wrapped: [Row] = []
        var line: [String] = []
        var at: Int?
        var place = (row: 0, column: 0)
        for (index, row) in rows.enumerated() {
            if index == cursor.row { at = line.count + cursor.column }
            line += row.cells
            if row.isWrapped { continue }
            let first = wrapped.count
            repeat {
                wrapped.append(
                    Row(
                        cells: Array(line.prefix(size.columns)),
                        isWrapped: line.count > size.columns))
                line.removeFirst(min(size.columns, line.count))
            } while !line.isEmpty
            if let column = at {
                place = (
                    min(first + column / size.columns, wrapped.count - 1), column % size.columns
                )
            }
            at = nil
        }
        (rows, cursor) = (wrapped, place)
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        let width = max(0, Int(Self.width(Int32(scalar.value))))
        if width == 0 {
            // It belongs to the character before it.
            let column = rows[cursor.row].cells[..<min(cursor.column, rows[cursor.row].cells.count)]
                .lastIndex { !$0.isEmpty }
            if let column { rows[cursor.row].cells[column].unicodeScalars.append(scalar) }
            return
        }
        if cursor.column + width > size.columns {
            guard wraps else {
                cutCharacters += 1
                return
            }
            rows[cursor.row].isWrapped = true
            cursor.column = 0
            feedLine()
        }
        while rows[cursor.row].cells.count < cursor.column + width {
            rows[cursor.row].cells.append(" ")
        }
        rows[cursor.row].cells[cursor.column] = String(scalar)
        if width == 2 { rows[cursor.row].cells[cursor.column + 1] = "" }
        cursor.column += width
    }

    private mutating func feedLine() {
        cursor.row += 1
        if cursor.row == rows.count { rows.append(Row()) }
        guard rows.count > size.rows else { return }
        history.append(rows.removeFirst())
        cursor.row -= 1
    }

    private mutating func control(_ code: String) {
        switch code {
        case "[J":
            clearLine()
            rows.removeSubrange((cursor.row + 1)...)
        case "[K": clearLine()
        case "[?7l": wraps = false
        case "[?7h":
            wraps = true
            note()
        case _ where code.hasSuffix("m"): colours += 1
        case _ where code.hasPrefix("[") && code.hasSuffix("A"):
            let count = Int(code.dropFirst().dropLast()) ?? 1
            if count > cursor.row { strangeControls.append("above the top: \(code)") }
            cursor.row = max(0, cursor.row - count)
        default: strangeControls.append(code)
        }
    }

    private mutating func note() {
        let text = Self.text(rows[cursor.row])
        if !text.isEmpty { drawn.append(text) }
    }

    private mutating func clearLine() {
        rows[cursor.row].cells = Array(rows[cursor.row].cells.prefix(cursor.column))
        rows[cursor.row].isWrapped = false
    }

    private static func text(_ row: Row) -> String {
        var cells = row.cells
        while cells.last == " " { cells.removeLast() }
        return cells.joined()
    }
}
