// SPDX-License-Identifier: Apache-2.0

/// How many columns text takes on a terminal.
///
/// The ranges are those of Unicode's East Asian Width (UAX #11), W and F, in whole blocks: the
/// few narrow characters in them are counted as wide, which leaves room but never wraps a line.
package enum TextWidth {
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23F3, 0x25FD...0x25FE,
        0x2614...0x2615, 0x2648...0x2653, 0x26A1...0x26FF, 0x2705...0x27BF, 0x2B1B...0x2B55,
        0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
        0x1AFF0...0x1B2FF, 0x1F000...0x1FAFF, 0x20000...0x3FFFD,
    ]

    /// The columns of one character: 0, 1 or 2.
    static func columns(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // A variation selector makes a picture of a narrow sign.
        if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        return wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// The columns of a text in one line.
    package static func columns(of text: String) -> Int {
        text.reduce(0) { $0 + columns(of: $1) }
    }

    /// The end of the text in at most `columns` columns; what is cut begins with "…".
    static func suffix(of text: String, columns: Int) -> String {
        guard Self.columns(of: text) > columns else { return text }
        var room = columns - 1
        var start = text.endIndex
        while start > text.startIndex {
            let before = text.index(before: start)
            room -= Self.columns(of: text[before])
            guard room >= 0 else { break }
            start = before
        }
        return "…" + text[start...]
    }

    /// The beginning of the text in at most `columns` columns; what is cut ends with "…".
    package static func prefix(of text: String, columns: Int) -> String {
        guard Self.columns(of: text) > columns else { return text }
        var room = columns - 1
        let end = text.firstIndex { character in
            room -= Self.columns(of: character)
            return room < 0
        }
        return columns > 0 ? text[..<(end ?? text.endIndex)] + "…" : ""
    }

    /// The text, and blanks up to so many columns.
    package static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - Self.columns(of: text)))
    }
}
