// SPDX-License-Identifier: Apache-2.0

/// How many columns text takes on a terminal.
///
/// Terminals do not agree on characters of several scalars, such as a family that is drawn as one
/// picture or as four. The widest form that any of them draws is counted: room may be left, but a
/// line is never too long. The ranges are those of Unicode's East Asian Width (UAX #11), W and F,
/// in whole blocks.
package enum TextWidth {
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23F3, 0x25FD...0x25FE,
        0x2614...0x2615, 0x2648...0x2653, 0x26A1...0x26FF, 0x2705...0x27BF, 0x2B1B...0x2B55,
        0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
        0x1AFF0...0x1B2FF, 0x1F000...0x1FAFF, 0x20000...0x3FFFD,
    ]
    /// Vowels and ends of Korean syllables share the cells of their first letter.
    private static let conjoining: ClosedRange<UInt32> = 0x1160...0x11FF

    /// The sum of its scalars' widths.
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

    /// Beside a blank, and beside wide characters, mostly of languages that break anywhere.
    private static func mayBreak(_ before: Character, _ after: Character) -> Bool {
        before == " " || after == " " || columns(of: before) > 1 || columns(of: after) > 1
    }

    /// "…" and the text from the first possible break on.
    static func marked(_ text: some StringProtocol) -> String {
        let place = zip(text.indices.dropFirst(), zip(text, text.dropFirst()))
            .first { mayBreak($1.0, $1.1) }?.0
        return "…" + text[(place ?? text.endIndex)...]
    }

    /// The end of the text; what is cut begins with "…", at a word unless that is longer than the
    /// line.
    static func suffix(of text: some StringProtocol, columns: Int) -> String {
        guard Self.columns(of: text) > columns else { return String(text) }
        // The mark takes a column.
        var room = columns - 1
        let start =
            text.indices.reversed().prefix {
                room -= Self.columns(of: text[$0])
                return room >= 0
            }.last ?? text.endIndex
        let words = marked(text[text.index(before: start)...])
        return words.count > 1 ? words : "…" + text[start...]
    }

    /// The beginning of the text; a cut one ends in "…".
    package static func prefix(of text: String, columns: Int) -> String {
        guard Self.columns(of: text) > columns else { return text }
        var room = columns - 1
        let end = text.firstIndex { character in
            room -= Self.columns(of: character)
            return room < 0
        }
        return columns > 0 ? text[..<(end ?? text.endIndex)] + "…" : ""
    }

    package static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - Self.columns(of: text)))
    }

    /// With a line feed before each word that does not fit.
    ///
    /// A command to copy stays in one piece. The terminal breaks a longer word, such as a path: a
    /// line feed in it would be copied, too.
    package static func folded(_ text: String, columns: Int) -> String {
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
        var (result, used, isAtStart) = ("", 0, true)
        for piece in pieces {
            let width = Self.columns(of: piece)
            let breaks = !isAtStart && used + 1 + width > columns && width <= columns
            if !isAtStart { result += breaks ? "\n" : " " }
            used = breaks || isAtStart ? 0 : used + 1
            // The second of two blanks begins no line.
            isAtStart = piece.isEmpty && (breaks || isAtStart && !result.isEmpty)
            // As the terminal breaks it: a wide character goes to the next line as a whole.
            for character in piece {
                let width = Self.columns(of: character)
                used = used + width > columns ? width : used + width
            }
            result += piece
        }
        return result
    }

    /// Breaks between words where possible.
    package static func wrapped(_ text: some StringProtocol, columns: Int) -> [String] {
        var lines: [String] = []
        var line: [Character] = []
        var used = 0
        for character in text {
            let width = Self.columns(of: character)
            if used + width > columns, !line.isEmpty {
                let all = line + [character]
                let place = (1...line.count).last { mayBreak(all[$0 - 1], all[$0]) } ?? line.count
                lines.append(trimmed(line[..<place]))
                line = Array(line[place...].drop { $0 == " " })
                used = line.reduce(0) { $0 + Self.columns(of: $1) }
            }
            if line.isEmpty, character == " " { continue }
            line.append(character)
            used += width
        }
        return line.isEmpty ? lines : lines + [trimmed(line[...])]
    }

    private static func trimmed(_ line: ArraySlice<Character>) -> String {
        String(line[...(line.lastIndex { $0 != " " } ?? line.startIndex)])
    }
}
