// SPDX-License-Identifier: Apache-2.0

/// Text from outside, made harmless for a terminal and for one line of a message.
package enum TerminalText {
    /// The most bytes of a foreign body that a message repeats.
    package static let excerptByteLimit = 200

    /// The text without what moves a cursor, sets colours or turns the reading direction.
    ///
    /// Removed are whole control sequences and strings of ECMA-48 (CSI, OSC, DCS and their like, in
    /// 7 bits and in 8), the C0 controls except tab and line feed, DEL, the C1 controls (U+0080 to
    /// U+009F) and the bidirectional embeddings, overrides and isolates (U+202A to U+202E,
    /// U+2066 to U+2069). Direction marks stay: Arabic and Hebrew text needs them.
    package static func sanitized(_ text: String) -> String {
        guard text.utf8.contains(where: mayBeginHarm),
            text.unicodeScalars.contains(where: isHarmful)
        else { return text }
        let scalars = text.unicodeScalars
        var result = ""
        var (index, start) = (scalars.startIndex, scalars.startIndex)
        while index < scalars.endIndex {
            let scalar = scalars[index]
            let next = scalars.index(after: index)
            guard isHarmful(scalar) else {
                index = next
                continue
            }
            result += text[start..<index]
            index = ControlSequence.end(in: scalars[next...], after: scalar)
            start = index
        }
        return result + text[start...]
    }

    /// The text as one line: without outer white space, and each run of white space that holds
    /// a line break is one space.
    package static func singleLine(_ text: String) -> String {
        var words = text[...]
        while let first = words.unicodeScalars.first, isSpace(first) {
            words.unicodeScalars.removeFirst()
        }
        while let last = words.unicodeScalars.last, isSpace(last) {
            words.unicodeScalars.removeLast()
        }
        guard words.utf8.contains(where: mayBeginBreak) else { return String(words) }
        let scalars = words.unicodeScalars
        var result = ""
        var (index, start) = (scalars.startIndex, scalars.startIndex)
        while index < scalars.endIndex {
            let begin = index
            var breaks = false
            while index < scalars.endIndex, isSpace(scalars[index]) {
                breaks = breaks || isLineBreak(scalars[index])
                index = scalars.index(after: index)
            }
            if breaks {
                result += words[start..<begin]
                result += " "
                start = index
            } else if index == begin {
                index = scalars.index(after: index)
            }
        }
        return result + words[start...]
    }

    /// Cuts a text to so many bytes; a cut one ends in "…".
    package static func cut(_ text: String, to byteLimit: Int = excerptByteLimit) -> String {
        guard text.utf8.count > byteLimit else { return text }
        let ellipsis = "…"
        var room = byteLimit - ellipsis.utf8.count
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            room -= UTF8.width(scalar)
            guard room >= 0 else { break }
            result.append(scalar)
        }
        return String(result) + ellipsis
    }

    /// The beginning of a foreign body, fit for a message.
    ///
    /// Bytes that are not UTF-8 become U+FFFD.
    package static func excerpt(of bytes: some Sequence<UInt8>) -> String {
        // A byte more than the limit lets cut(_:to:) see that something is missing.
        let head = Array(bytes.prefix(excerptByteLimit + 1))
        return cut(singleLine(sanitized(String(decoding: head, as: UTF8.self))))
    }

    private static func mayBeginHarm(_ byte: UInt8) -> Bool {
        byte < 0x20 && byte != 0x0A && byte != 0x09 || byte == 0x7F || byte == 0xC2 || byte == 0xE2
    }

    private static func mayBeginBreak(_ byte: UInt8) -> Bool {
        (0x0A...0x0D).contains(byte) || byte == 0xC2 || byte == 0xE2
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0x00...0x1F, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII
            ? scalar == " " || (0x09...0x0D).contains(scalar.value)
            : scalar.properties.isWhitespace
    }

    private static func isLineBreak(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }
}

/// The control sequences and strings of a terminal (ECMA-48 §5.4, §5.6; ECMA-35 §13.2).
private enum ControlSequence {
    typealias Scalars = Substring.UnicodeScalarView

    /// Where the sequence that a harmful scalar begins ends; one without an end loses only its first bytes.
    static func end(in rest: Scalars, after scalar: Unicode.Scalar) -> Scalars.Index {
        switch scalar.value {
        case 0x1B: escape(in: rest)
        case 0x9B: parameters(in: rest)
        case 0x90, 0x98, 0x9D, 0x9E, 0x9F: string(in: rest)
        default: rest.startIndex
        }
    }

    private static func escape(in rest: Scalars) -> Scalars.Index {
        guard let first = rest.first else { return rest.startIndex }
        let behind = rest.dropFirst()
        switch first {
        case "[": return parameters(in: behind)
        case "P", "X", "]", "^", "_": return string(in: behind)
        // A character set, or what is tested, and its name.
        case "#", "%", "(", ")", "*", "+", "-", ".", "/":
            return behind.isEmpty || behind.first == "\n"
                ? behind.startIndex : behind.dropFirst().startIndex
        case "7", "8", "=", ">", "\\", "c", "D", "E", "H", "M", "N", "O", "Z":
            return behind.startIndex
        default: return rest.startIndex
        }
    }

    private static func parameters(in rest: Scalars) -> Scalars.Index {
        let final = rest.drop { (0x30...0x3F).contains($0.value) }
            .drop { (0x20...0x2F).contains($0.value) }
        let hasFinal = final.first.map { (0x40...0x7E).contains($0.value) } ?? false
        return hasFinal ? final.dropFirst().startIndex : final.startIndex
    }

    /// Behind BEL or the string terminator, when one stands in the same line.
    private static func string(in rest: Scalars) -> Scalars.Index {
        let end = rest.drop { !["\u{7}", "\u{9C}", "\u{1B}", "\n"].contains($0) }
        switch end.first {
        case "\u{7}", "\u{9C}": return end.dropFirst().startIndex
        case "\u{1B}" where end.dropFirst().first == "\\": return end.dropFirst(2).startIndex
        default: return rest.startIndex
        }
    }
}
