// SPDX-License-Identifier: Apache-2.0

/// Recognises HTML where text was expected and finds the line that a person would read first.
enum WebPage {
    /// The most bytes of a page that are looked at.
    private static let byteLimit = 16_384

    /// Whether the text begins like an HTML or XML document.
    static func isWebPage(_ text: String) -> Bool {
        let start = text.drop { $0.isWhitespace }.prefix(9).lowercased()
        return ["<!doctype", "<html", "<head", "<body", "<?xml"].contains { start.hasPrefix($0) }
    }

    /// The first line with words once tags, scripts and styles are gone; nil without any.
    ///
    /// The result is harmless to a terminal and at most 200 bytes.
    static func firstLine(of text: String) -> String? {
        let visible = withoutTags(String(decoding: text.utf8.prefix(byteLimit), as: UTF8.self))
        for line in visible.split(whereSeparator: \.isNewline) {
            let words = TerminalText.singleLine(TerminalText.sanitized(withoutEntities(line)))
            if !words.isEmpty { return TerminalText.cut(words) }
        }
        return nil
    }

    /// Each tag becomes a line break, so that a title and a heading do not run together.
    private static func withoutTags(_ text: String) -> String {
        var visible = ""
        var rest = Substring(text)
        while let open = rest.firstIndex(of: "<") {
            visible += rest[..<open]
            let tag = rest[open...]
            // "<" before a space or at the end is text, such as "2 < 3".
            guard let next = tag.dropFirst().first, next.isLetter || "/!?".contains(next) else {
                visible.append("<")
                rest = tag.dropFirst()
                continue
            }
            // Without any ">" to come nothing is a tag, and looking again would be quadratic.
            guard let close = tag.firstIndex(of: ">") else { return visible + tag }
            visible.append("\n")
            rest = tag[close...].dropFirst()
            let name = tag.dropFirst().prefix { $0.isLetter }.lowercased()
            if name == "script" || name == "style" { rest = afterElement(name, in: rest) }
        }
        return visible + rest
    }

    private static func afterElement(_ name: String, in text: Substring) -> Substring {
        var rest = text
        while let open = rest.firstIndex(of: "<") {
            rest = rest[open...]
            if rest.prefix(name.count + 2).lowercased() == "</\(name)" { return rest }
            rest = rest.dropFirst()
        }
        return ""
    }

    private static let entities = [
        "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "#39": "'", "nbsp": " ", "amp": "&",
    ]

    private static func withoutEntities(_ line: Substring) -> String {
        var result = ""
        var rest = line
        while let start = rest.firstIndex(of: "&") {
            result += rest[..<start]
            let name = rest[start...].dropFirst().prefix { $0 != ";" && $0 != "&" }
            if let text = entities[name.lowercased()], rest[name.endIndex...].first == ";" {
                result += text
                rest = rest[name.endIndex...].dropFirst()
            } else {
                result.append("&")
                rest = rest[start...].dropFirst()
            }
        }
        return result + rest
    }
}
