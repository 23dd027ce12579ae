// SPDX-License-Identifier: Apache-2.0

/// How many columns text takes on a terminal.
///
/// Terminals do not agree on characters of several scalars, such as a family that is drawn as one
/// picture or as four. What is counted here is the widest that any of them draws: room may be left,
/// but a line is never too long. The ranges are those of Unicode's East Asian Width (UAX #11), W and
/// F, in whole blocks.
package enum TextWidth {
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23F3, 0x25FD...0x25FE,
        0x2614...0x2615, 0x2648...0x2653, 0x26A1...0x26FF, 0x2705...0x27BF, 0x2B1B...0x2B55,
        0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
        0x1AFF0...0x1B2FF, 0x1F000...0x1FAFF, 0x20000...0x3FFFD,
    ]
    /// The vowels and ends of Korean syllables, which stand in the cells of their first letter.
    private static let conjoining: ClosedRange<UInt32> = 0x1160...0x11FF

    /// The columns of one character: the sum of its scalars'.
    static func columns(of character: Character) -> Int {
        if let value = character.asciiValue { return value < 0x20 ? 0 : 1 }
        var columns = 0
        for scalar in character.unicodeScalars {
            // A variation selector makes a picture of a narrow sign.
            columns = scalar == "\u{FE0F}" ? max(columns, 2) : columns + self.columns(of: scalar)
        }
        return columns
    }

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        if scalar.isASCII { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        // A soft hyphen is drawn by most.
        case .format: return scalar == "\u{AD}" ? 1 : 0
        default: break
        }
        if conjoining.contains(scalar.value) { return 0 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    package static func columns(of text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + columns(of: $1) }
    }

    /// The end of the text in at most `columns` columns; what is cut begins with "…".
    package static func suffix(of text: some StringProtocol, columns: Int) -> String {
        var room = columns
        var start = text.endIndex
        // What the mark takes the place of, when it is needed.
        var marked = text.endIndex
        while start > text.startIndex {
            let before = text.index(before: start)
            room -= Self.columns(of: text[before])
            guard room >= 0 else { return "…" + text[marked...] }
            start = before
            if room >= 1 { marked = start }
        }
        return String(text)
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

    /// The text with a line feed before each word that does not fit into the line.
    ///
    /// A command to copy stays in one piece, and so does what takes more than half a line, such as a
    /// path: a line feed in it would be copied too.
    static func folded(_ text: String, columns: Int) -> String {
        var pieces: [Substring] = []
        var isCommand = false
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let before = pieces.last
            if isCommand, let before {
                pieces[pieces.count - 1] = before.base[before.startIndex..<word.endIndex]
            } else {
                pieces.append(word)
            }
            isCommand = isCommand || before?.last == ":" && word == "utter"
            if let end = word.last, ";,".contains(end) { isCommand = false }
        }
        var (result, used) = ("", 0)
        for piece in pieces {
            let width = Self.columns(of: piece)
            let breaks = used + 1 + width > columns && width <= columns / 2
            if !result.isEmpty { result += breaks ? "\n" : " " }
            used = breaks || result.isEmpty ? width : used + 1 + width
            // A piece that is longer is broken by the terminal.
            if used > columns, columns > 0 { used = (used - 1) % columns + 1 }
            result += piece
        }
        return result
    }

    /// The text in lines of at most `columns` columns, which break between words where they can.
    ///
    /// Wide characters are mostly those of languages that break anywhere.
    package static func wrapped(_ text: some StringProtocol, columns: Int) -> [String] {
        var lines: [String] = []
        var line: [(character: Character, columns: Int)] = []
        var used = 0
        for character in text {
            let width = Self.columns(of: character)
            if used + width > columns, !line.isEmpty {
                // A space at the end of a line is not shown.
                if character == " " {
                    lines.append(String(line.map(\.character)))
                    (line, used) = ([], 0)
                    continue
                }
                let breaksAnywhere = width > 1 || (line.last?.columns ?? 0) > 1
                let space = breaksAnywhere ? nil : line.lastIndex { $0.character == " " }
                let rest = space.map { line[($0 + 1)...] } ?? []
                lines.append(String(line[..<(space ?? line.endIndex)].map(\.character)))
                line = Array(rest)
                used = line.reduce(0) { $0 + $1.columns }
            }
            if line.isEmpty, character == " " { continue }
            line.append((character, width))
            used += width
        }
        if !line.isEmpty { lines.append(String(line.map(\.character))) }
        return lines
    }
}
