// SPDX-License-Identifier: Apache-2.0

/// How far the sending of many takes has come; pure.
package struct FlushCount: Equatable {
    package var total: Int
    package var answered = 0
    package var failed = 0
    /// Sent or removed by another process meanwhile.
    package var elsewhere = 0
    /// Not sent, because their service does not take any, or the flush was ended.
    package var left = 0

    package init(total: Int) { self.total = total }

    private var done: Int { answered + failed + elsewhere + left }

    /// A bar of at most `columns` - 1 columns.
    package func bar(columns: Int) -> String {
        let counts = " \(done)/\(total)" + (failed > 0 ? ", \(failed) failed" : "")
        let room = min(40, columns - counts.count - 9)
        guard room >= 4, total > 0 else { return String("flush\(counts)".prefix(columns - 1)) }
        let filled = room * done / total
        return "flush ▕" + String(repeating: "█", count: filled)
            + String(repeating: "·", count: room - filled) + "▏" + counts
    }

    /// The summary in one line.
    package var summary: String {
        let parts = [
            (failed, "failed"), (elsewhere, "gone or sent by another utter"), (left, "left"),
        ]
        return
            (["\(answered) of \(total) answered"]
            + parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }).joined(separator: ", ")
    }
}
