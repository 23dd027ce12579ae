// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Utter
internal import UtterTerminal

/// Takes in columns, one line each.
///
/// Pure. The words come last and are cut to the width; when there is too little room for them,
/// columns before them are left out.
struct TakeTable {
    struct Row {
        /// A part of its id that means no other take.
        var name: String
        var began: Date?
        var state: String
        var length: Duration?
        var words: String
    }

    private enum Column { case name, time, shortTime, age, state, length }

    /// The first that leaves enough columns for words is taken.
    private static let layouts: [[Column]] = [
        [.name, .time, .age, .state, .length], [.name, .time, .state, .length],
        [.name, .shortTime, .state, .length], [.name, .shortTime, .state], [.name, .state], [.name],
    ]
    /// So many columns are enough for words.
    private static let leastWords = 14

    private let rows: [Row]
    private let now: LocalTime

    init(_ rows: [Row], now: Date = ProgramStart.current.now) {
        self.rows = rows
        self.now = LocalTime(now)
    }

    /// Each line is at most `columns` wide; nil cuts nothing.
    func lines(columns: Int?) -> [String] {
        var chosen: [[String]] = []
        for layout in Self.layouts {
            chosen = cells(layout)
            let used = (chosen.first ?? []).reduce(0) { $0 + TextWidth.columns(of: $1) + 2 }
            guard let columns, columns - used < Self.leastWords else { break }
        }
        return zip(rows, chosen).map { row, cells in
            let words = TerminalText.singleLine(TerminalText.sanitized(row.words))
            let line = (words.isEmpty ? cells : cells + [words]).joined(separator: "  ")
            let end = line.lastIndex { $0 != " " }
            let text = String(end.map { line[...$0] } ?? "")
            return columns.map { TextWidth.prefix(of: text, columns: $0) } ?? text
        }
    }

    private func cells(_ layout: [Column]) -> [[String]] {
        var cells = rows.map { row in layout.map { cell($0, of: row) } }
        for (index, column) in layout.enumerated() {
            let width = cells.map { TextWidth.columns(of: $0[index]) }.max() ?? 0
            for row in cells.indices {
                let text = cells[row][index]
                let blanks = String(repeating: " ", count: width - TextWidth.columns(of: text))
                let isNumber = column == .age || column == .length
                cells[row][index] = isNumber ? blanks + text : text + blanks
            }
        }
        return cells
    }

    private func cell(_ column: Column, of row: Row) -> String {
        let began = row.began.map { LocalTime($0) }
        return switch column {
        case .name: row.name
        case .time: began?.text(at: now) ?? "-"
        case .shortTime: began?.shortText(at: now) ?? "-"
        case .age: began?.age(at: now) ?? "-"
        case .state: row.state
        case .length: row.length.map { StatusLine.clock($0) } ?? "-"
        }
    }
}
