// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// Recognises HTML where text was expected and finds the line that a person would read first.
enum WebPage {
    /// The most bytes of a text that are looked at.
    private static let byteLimit = 16_384

    /// Whether the text begins like an HTML or XML document.
    static func isWebPage(_ text: String) -> Bool {
        let start = text.drop { $0.isWhitespace }.prefix(9).lowercased()
        return ["<!doctype", "<html", "<head", "<body", "<?xml"].contains { start.hasPrefix($0) }
    }

    /// The title of a web page, or the first line with words of any other text; nil without any.
    ///
    /// The result is harmless to a terminal and at most 200 bytes.
    static func firstLine(of text: String) -> String? {
        let start = String(decoding: text.utf8.prefix(byteLimit), as: UTF8.self)
        let lines =
            isWebPage(start)
            ? start.split(separator: "<").filter { $0.prefix(5).lowercased() == "title" }
                .map { $0.drop { $0 != ">" }.dropFirst() }
            : start.split(whereSeparator: \.isNewline)
        for line in lines {
            let words = TerminalText.singleLine(TerminalText.sanitized(String(line)))
            if !words.isEmpty { return TerminalText.cut(words) }
        }
        return nil
    }
}
