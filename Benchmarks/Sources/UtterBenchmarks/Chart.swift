// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Figures of a report as bars, in an SVG that is read on white and on black.
struct Chart {
    /// The names of figures, each of which becomes a block of bars, and the titles of the blocks.
    let blocks: [(figure: String, title: String)]
    /// What the names of rows begin with, and is left out.
    let prefix: String

    private static let (labels, bars, step) = (190.0, 330.0, 22.0)

    /// The text of the file; rows without a figure are left out of its block.
    func svg(of report: Report) -> String {
        var (body, y) = ("", 0.0)
        for block in blocks {
            y += Self.step
            body += Self.text(block.title, x: 0, y, " font-weight=\"bold\"")
            let rows = report.rows.compactMap { row in
                row.figures.first { $0.name == block.figure }.map { (row.name, $0.value) }
            }
            let longest = rows.map(\.1).max() ?? 1
            for (name, value) in rows {
                y += Self.step
                let length = max(1, value / longest * Self.bars)
                let label = name.hasPrefix(prefix) ? name.dropFirst(prefix.count) : name[...]
                body += Self.text(String(label), x: Self.labels - 8, y, " text-anchor=\"end\"")
                body += "<rect"
                body += Self.attributes(
                    ["x": Self.labels, "y": y - 12, "width": length, "height": 16])
                body += " fill=\"\(label.hasPrefix("utter") ? "#2a7fba" : "#8a949c")\"/>\n"
                let shown = Report.text((value * 100).rounded() / 100)
                body += Self.text(shown, x: Self.labels + length + 6, y)
            }
            y += Self.step / 2
        }
        let size = Self.attributes(["width": 600, "height": y + 8])
        return """
            <svg xmlns="http://www.w3.org/2000/svg"\(size) fill="#7a838a" \
            font-family="sans-serif" font-size="13">
            \(body)</svg>

            """
    }

    private static func text(
        _ text: String, x: Double, _ y: Double, _ more: String = ""
    ) -> String {
        "<text\(attributes(["x": x, "y": y]))\(more)>\(text)</text>\n"
    }

    private static func attributes(_ values: KeyValuePairs<String, Double>) -> String {
        values.map { " \($0.key)=\"\(Report.text($0.value))\"" }.joined()
    }
}
