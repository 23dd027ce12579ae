// SPDX-License-Identifier: Apache-2.0

/// Text from outside, made harmless for a terminal and for one line of a message.
package enum TerminalText {
    /// The most bytes of a foreign body that a message repeats.
    package static let excerptByteLimit = 200

    /// The text without what moves a cursor, sets colours or turns the reading direction.
    ///
    /// Removed are the C0 controls except tab and line feed, DEL, the C1 controls (U+0080 to
    /// U+009F) and the bidirectional embeddings, overrides and isolates (U+202A to U+202E,
    /// U+2066 to U+2069). Direction marks stay: Arabic and Hebrew text needs them.
    package static func sanitized(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHarmful) else { return text }
        var result = String.UnicodeScalarView()
        result.append(contentsOf: text.unicodeScalars.lazy.filter { !isHarmful($0) })
        return String(result)
    }

    /// The text as one line: without outer white space, and each run of white space that holds
    /// a line break is one space.
    package static func singleLine(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var space = String.UnicodeScalarView()
        var breaks = false
        for scalar in text.unicodeScalars {
            if scalar.properties.isWhitespace {
                space.append(scalar)
                breaks = breaks || isLineBreak(scalar)
                continue
            }
            if !result.isEmpty, !space.isEmpty {
                if breaks {
                    result.append(" ")
                } else {
                    // One by one: a sequence is appended to a copy of all that is there, so that
                    // a long answer takes for ever.
                    for scalar in space { result.append(scalar) }
                }
            }
            space = String.UnicodeScalarView()
            breaks = false
            result.append(scalar)
        }
        return String(result)
    }

    /// The beginning of the text in at most `byteLimit` bytes of UTF-8; what is cut ends in "…".
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
        // One more than the limit, so that cut(_:to:) sees that something is missing.
        let head = Array(bytes.prefix(excerptByteLimit + 1))
        return cut(singleLine(sanitized(String(decoding: head, as: UTF8.self))))
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0x00...0x1F, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func isLineBreak(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }
}
