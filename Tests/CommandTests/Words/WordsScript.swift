// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform

/// A section of a file of Tests/Words, whose README.md says how such a file is written.
struct WordsScript: Sendable, CustomTestStringConvertible {
    let path: String
    let heading: String
    /// The lines before the file's first heading, which are for all sections.
    let common: [String]
    let own: [String]

    var testDescription: String { "\(path.split(separator: "/").last ?? ""): \(heading)" }

    static func all() throws -> [WordsScript] {
        try SourceTree.files(below: "Tests/Words", endingWith: ".txt").sorted().flatMap {
            path -> [WordsScript] in
            let lines = try lines(of: path)
            let starts = lines.indices.filter { lines[$0].hasPrefix("== ") }
            let common = Array(lines[..<(starts.first ?? lines.endIndex)])
            return starts.map { start in
                let own = lines[(start + 1)...].prefix { !$0.hasPrefix("== ") }
                return WordsScript(
                    path: path, heading: String(lines[start].dropFirst(3)), common: common,
                    own: Array(own))
            }
        }
    }

    /// The sections whose file or heading contains the text of the variable `UTTER_WORDS`, or all.
    static func wanted() throws -> [WordsScript] {
        let part = getenv("UTTER_WORDS").map { String(cString: $0) } ?? ""
        return try all().filter { part.isEmpty || $0.testDescription.contains(part) }
    }

    func update(_ new: some Collection<String>) throws {
        var lines = try Self.lines(of: path)
        let start = (lines.firstIndex(of: "== " + heading) ?? 0) + 1
        lines.replaceSubrange(start..<start + own.count, with: new)
        try NamedFile(path).replace(with: Array(lines.joined(separator: "\n").utf8))
    }

    private static func lines(of path: String) throws -> [String] {
        String(decoding: try readFile(path), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}

/// The lines behind a command, of what it prints and how it ends.
enum WordsLines {
    static func areExpected(_ line: String) -> Bool {
        line.hasPrefix("|") || line.hasPrefix("!") || line.hasPrefix("status ")
    }

    static func of(_ text: String, behind mark: String) -> [String] {
        let shown = text.replacing("\u{1B}", with: "\\e").replacing("\r", with: "\\r")
        var lines = shown.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let rest = lines.removeLast()
        if !rest.isEmpty { lines.append(rest + "[no newline]") }
        return lines.map { $0.isEmpty ? mark : "\(mark) \($0)" }
    }

    /// Whether the lines are as expected: `[..]` is any text, and `...` alone any lines of a stream.
    static func match(_ lines: ArraySlice<String>, _ expected: ArraySlice<String>) -> Bool {
        guard let wanted = expected.first else { return lines.isEmpty }
        if wanted == "| ..." || wanted == "! ..." {
            return match(lines, expected.dropFirst())
                || lines.first?.first == wanted.first && match(lines.dropFirst(), expected)
        }
        guard let line = lines.first else { return false }
        return matches(line, wanted) && match(lines.dropFirst(), expected.dropFirst())
    }

    static func matches(_ line: String, _ wanted: String) -> Bool {
        let parts = wanted.split(separator: "[..]", omittingEmptySubsequences: false)
        guard parts.count > 1, line.hasPrefix(parts[0]) else { return line == wanted }
        var rest = line.dropFirst(parts[0].count)
        for part in parts[1..<parts.count - 1] {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(parts[parts.count - 1])
    }
}
