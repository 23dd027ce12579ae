// SPDX-License-Identifier: Apache-2.0

/// The codes (ECMA-48, DEC private modes) that draw one line over itself.
///
/// The cursor rests at the line's first column. A terminal that is made narrower and wraps the line
/// keeps it there, and one that cuts the line does too; so clearing from the cursor to the end of
/// the screen erases all pieces, and nothing above.
package enum LiveText {
    /// Erases the line.
    package static func erasure() -> String { "\r\u{1B}[J" }

    /// Draws the line over what is there.
    ///
    /// Without automatic wrapping: the terminal may be narrower by the time it reads this.
    package static func drawing(_ text: String) -> String {
        "\r\u{1B}[?7l\(text)\u{1B}[J\u{1B}[?7h\r"
    }
}
