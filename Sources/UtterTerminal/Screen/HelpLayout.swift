// SPDX-License-Identifier: Apache-2.0

/// Lays out the help of a command for the width of a terminal.
///
/// The parser breaks lines where the sources do. Its help, made for an endless line, is broken
/// between words here: paragraphs are filled, and the second of two columns stays in place.
package struct HelpLayout {
    /// Also on a wider terminal.
    private static let widest = 80
    /// A narrower terminal breaks the lines itself.
    private static let narrowest = 20
    /// Where the parser begins the second column.
    private static let secondColumn = 26
    /// The least width of the second column beside the first.
    private static let leastRoom = 30
    private static let usage = "USAGE: "

    private let columns: Int

    package init(columns: Int?) {
        self.columns = min(max(columns ?? Self.widest, Self.narrowest), Self.widest)
    }

    package static func isHelp(_ text: String) -> Bool {
        text.hasPrefix("OVERVIEW: ") || text.hasPrefix(usage)
    }

    package func text(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let usage = lines.firstIndex { $0.hasPrefix(Self.usage) } ?? lines.endIndex
        return (overview(lines[..<usage]) + lines[usage...].flatMap(structured))
            .joined(separator: "\n")
    }

    // MARK: - Overview

    /// Fills paragraphs, and keeps lines that are indented or have two columns.
    private func overview(_ lines: ArraySlice<Substring>) -> [String] {
        var filled: [String] = []
        var paragraph: [Substring] = []
        func end() {
            filled += TextWidth.wrapped(paragraph.joined(separator: " "), columns: columns)
            paragraph = []
        }
        for line in lines {
            guard line.isEmpty || line.hasPrefix(" ") || line.contains("  ") else {
                paragraph.append(line)
                continue
            }
            end()
            filled += line.isEmpty ? [""] : example(line)
        }
        end()
        return filled
    }

    /// A command, and a second column with what it does.
    private func example(_ line: Substring) -> [String] {
        let indent = line.prefix { $0 == " " }.count
        let words = line.dropFirst(indent)
        guard let gap = words.firstRange(of: "  ") else {
            return hanging(words, behind: line.prefix(indent), indent: indent + 4)
        }
        let second = words[gap.lowerBound...].drop { $0 == " " }
        let start = words.startIndex
        let column = indent + words.distance(from: start, to: second.startIndex)
        return beside(line.prefix(indent) + words[..<gap.lowerBound], second, at: column)
    }

    // MARK: - Usage and options

    private func structured(_ line: Substring) -> [String] {
        if line.hasPrefix(Self.usage) {
            return hanging(
                line.dropFirst(Self.usage.count), behind: Self.usage[...],
                indent: Self.usage.count, isUsage: true)
        }
        guard line.hasPrefix("  ") else {
            return line.isEmpty ? [""] : hanging(line, behind: "", indent: 2)
        }
        let start = line.index(
            line.startIndex, offsetBy: Self.secondColumn, limitedBy: line.endIndex)
        guard let start, start < line.endIndex, line[line.index(before: start)] == " " else {
            return hanging(line.dropFirst(2), behind: "  ", indent: 4, isUsage: true)
        }
        let first = line[..<start]
        let label = first.prefix(through: first.lastIndex { $0 != " " } ?? first.startIndex)
        return beside(label, line[start...], at: Self.secondColumn)
    }

    // MARK: - Lines

    /// Below each other where there is no room.
    private func beside(_ first: Substring, _ second: Substring, at column: Int) -> [String] {
        let isEmpty = first.allSatisfy { $0 == " " }
        guard columns - column >= Self.leastRoom else {
            let margin = first.prefix { $0 == " " }
            let label = hanging(
                first.dropFirst(margin.count), behind: margin, indent: margin.count + 2)
            return (isEmpty ? [] : label) + hanging(second, behind: "      ", indent: 6)
        }
        let head = TextWidth.padded(isEmpty ? "" : String(first), to: column)
        return hanging(second, behind: head[...], indent: column)
    }

    /// Further lines are indented.
    private func hanging(
        _ text: Substring, behind head: Substring, indent: Int, isUsage: Bool = false
    ) -> [String] {
        // Words that belong together in usage, such as [--for <time>], are one word.
        let glue: Character = "\u{A0}"
        var depth = 0
        let glued = text.map { character -> Character in
            if character == "[" || character == "<" { depth += 1 }
            if character == "]" || character == ">" { depth -= 1 }
            return isUsage && depth > 0 && character == " " ? glue : character
        }
        let margin = String(repeating: " ", count: indent)
        return TextWidth.wrapped(String(glued), columns: columns - indent).enumerated().map {
            let line = String($0.element.map { $0 == glue ? " " : $0 })
            return ($0.offset == 0 ? String(head) : margin) + line
        }
    }
}
