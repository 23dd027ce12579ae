// SPDX-License-Identifier: Apache-2.0

/// Text that stands in HTML, in an element or between quotes.
enum HTMLText {
    /// The only way by which a text gets into a page: no character of it is taken for a mark.
    static func escaped(_ text: some StringProtocol) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            // Scripts take them for the end of a line.
            case "\u{2028}", "\u{2029}": result += " "
            // A page has no other control characters, and none that turns the direction of what follows.
            case "\n", "\t": result.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
                result += "\u{FFFD}"
            case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
