// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Collects figures: a JSON object a line on standard output, a table on standard error at the end.
final class Report {
    /// What was measured, and its figures.
    private(set) var rows: [(name: String, figures: [(name: String, value: Double)])] = []
    /// The JSON objects that were printed.
    private(set) var lines: [String] = []

    /// Adds the figures of one thing measured.
    ///
    /// - Parameters:
    ///   - name: what was measured, and of which program.
    ///   - figures: names with their units, and values.
    func add(_ name: String, _ figures: [(name: String, value: Double)]) {
        let members = figures.map { "\"\($0.name)\":\(Self.text($0.value))" }
        let line = "{\"benchmark\":\"\(name)\",\(members.joined(separator: ","))}"
        print(line)
        fflush(nil)
        lines.append(line)
        rows.append((name, figures))
    }

    /// Adds the percentiles of values in ms.
    func add(
        _ name: String, milliseconds values: Distribution,
        _ more: [(name: String, value: Double)] = []
    ) {
        add(
            name,
            [
                ("p50_ms", values.median), ("p95_ms", values.percentile(95)),
                ("max_ms", values.maximum), ("count", Double(values.count)),
            ] + more)
    }

    /// Prints the table.
    func printTable() {
        let width = rows.map(\.name.count).max() ?? 0
        for row in rows {
            let padding = String(repeating: " ", count: width - row.name.count)
            let cells = row.figures.map { "\($0.name) \(Self.text($0.value))" }
            complain("\(row.name)\(padding)  \(cells.joined(separator: " · "))")
        }
    }

    /// Three digits behind the point, without the zeros at the end.
    static func text(_ value: Double) -> String {
        let rounded = (value * 1_000).rounded() / 1_000
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }
}

/// Writes a line to standard error.
func complain(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, line, line.count)
}
