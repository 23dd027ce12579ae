// SPDX-License-Identifier: Apache-2.0

/// Short texts beside each other, in as many columns as a terminal has room for.
package enum TextColumns {
    private static let margin = 2

    /// The lines, in which the texts go down each column.
    ///
    /// - Parameters:
    ///   - texts: what is shown, in its order.
    ///   - width: the columns of the terminal.
    /// - Returns: the lines; no longer than the terminal where one text fits.
    package static func lines(_ texts: [String], width: Int) -> [String] {
        let widest = (texts.map { TextWidth.columns(of: $0) }.max() ?? 0) + margin
        let columnCount = max(1, (width - margin) / widest)
        let rowCount = (texts.count + columnCount - 1) / columnCount
        return (0..<rowCount).map { row in
            var line = ""
            for (index, text) in texts.enumerated() where index % rowCount == row {
                let isLast = index + rowCount >= texts.count
                line += "  " + (isLast ? text : TextWidth.padded(text, to: widest - margin))
            }
            return line
        }
    }
}
