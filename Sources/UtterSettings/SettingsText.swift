// SPDX-License-Identifier: Apache-2.0

package import Settings
internal import SpeechService

/// The text of a file of settings, in which one value changes and all else stays as it is written.
///
/// A change counts only if a reader finds it, and nothing else changed: what cannot be changed so,
/// such as a text over several lines, is left to an editor.
package struct SettingsText {
    package enum Mistake: Error, Sendable, Equatable {
        /// The text cannot be read, with the reason.
        case unreadable(SettingsError)
        /// The value is written in a way that only a person can change.
        case tooElaborate(SettingsPosition?)
        case notThere
    }

    private typealias Line = [Unicode.Scalar]

    /// Without line feeds; the carriage return of a line is its last character.
    private var lines: [Line]
    private let table: SettingsTable

    package init(_ text: String) throws(Mistake) {
        do throws(SettingsError) {
            table = try SettingsDocument.parse(text)
        } catch {
            throw .unreadable(error)
        }
        lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map(Array.init)
    }

    private var text: String {
        var all = String.UnicodeScalarView()
        for line in lines.joined(separator: ["\n"]) { all.append(line) }
        return String(all)
    }

    /// The value at a path such as `keep`, `audio`, as a person writes it; nil when there is none.
    package func value(at path: [String]) -> String? {
        node(at: path).map { Self.written($0.value) }
    }

    private static func written(_ value: SettingsValue) -> String {
        switch value {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .flag(let flag): "\(flag)"
        case .array(let nodes): nodes.map { written($0.value) }.joined(separator: ",")
        case .table, .date: value.kind
        }
    }

    /// The text with a value, as TOML writes it, at a path.
    ///
    /// - Throws: `Mistake.tooElaborate` when the value, or its table, is not written line by line.
    package func setting(_ path: [String], to literal: String) throws(Mistake) -> String {
        var changed = self
        if let place = node(at: path)?.place {
            try changed.replaceValue(at: place, with: Array(literal.unicodeScalars))
        } else {
            changed.insert([(path[path.count - 1], literal)], into: path.dropLast())
        }
        return try changed.checked(against: self, [path])
    }

    /// The text with values, as TOML writes them, that a table does not have yet.
    ///
    /// - Throws: `Mistake.tooElaborate` when the table is not written line by line.
    package func adding(
        _ values: [(name: String, literal: String)], to table: [String]
    ) throws(Mistake) -> String {
        var changed = self
        changed.insert(values, into: table[...])
        return try changed.checked(against: self, values.map { table + [$0.name] })
    }

    package func removing(_ path: [String]) throws(Mistake) -> String {
        guard let place = node(at: path)?.place else { throw .notThere }
        var changed = self
        let (line, start) = try position(place)
        guard Self.rest(of: lines[line], behind: try end(of: start, in: line)).isEmpty,
            !lines[line][..<start].contains("{")
        else { throw .tooElaborate(place) }
        changed.lines.remove(at: line)
        changed.removeTable(around: line)
        return try changed.checked(against: self, [path])
    }

    // MARK: - Steps

    /// Removes the head of the table in which a line stood, and the blank lines below it, if nothing
    /// else is there.
    private mutating func removeTable(around line: Int) {
        guard let head = lines[..<line].lastIndex(where: { !Self.word($0).isEmpty }),
            Self.word(lines[head]).first == "[", !lines[head].contains("#")
        else { return }
        let end = lines[line...].firstIndex { !Self.word($0).isEmpty } ?? lines.count
        guard end == lines.count || Self.word(lines[end]).first == "[" else { return }
        let isLast = end == lines.count
        lines.removeSubrange(head..<end)
        guard isLast else { return }
        // The file ends in a line feed, and not in a blank line.
        while let last = lines.last, Self.word(last).isEmpty { lines.removeLast() }
        if !lines.isEmpty { lines.append([]) }
    }

    private func node(at path: [String]) -> SettingsNode? {
        var node: SettingsNode?
        var table: SettingsTable? = table
        for name in path {
            node = table?[name]
            table = node?.value.table
        }
        return node
    }

    private func position(_ place: SettingsPosition) throws(Mistake) -> (line: Int, start: Int) {
        let (line, start) = (place.line - 1, place.column - 1)
        guard lines.indices.contains(line), lines[line].indices.contains(start) else {
            throw .tooElaborate(place)
        }
        return (line, start)
    }

    private mutating func replaceValue(
        at place: SettingsPosition, with literal: Line
    ) throws(Mistake) {
        let (line, start) = try position(place)
        lines[line].replaceSubrange(start..<(try end(of: start, in: line)), with: literal)
    }

    /// Where a value ends that stands in one line.
    private func end(of start: Int, in line: Int) throws(Mistake) -> Int {
        let text = lines[line]
        let quote = text[start]
        guard quote == "\"" || quote == "'" else {
            return text[start...].firstIndex { " \t\r,}]#".unicodeScalars.contains($0) }
                ?? text.count
        }
        var index = start + 1
        while index < text.count, text[index] != quote {
            index += quote == "\"" && text[index] == "\\" ? 2 : 1
        }
        // Three quotes begin a text that may have several lines.
        guard index < text.count, !(index == start + 1 && text.dropFirst(index + 1).first == quote)
        else { throw .tooElaborate(SettingsPosition(line: line + 1, column: start + 1)) }
        return index + 1
    }

    /// The rest of a line behind a value, but white space and a remark.
    private static func rest(of line: Line, behind end: Int) -> ArraySlice<Unicode.Scalar> {
        let rest = line[end...].drop { " \t\r".unicodeScalars.contains($0) }
        return rest.first == "#" ? [] : rest
    }

    /// Writes values that are not there: in their table behind the remark that names the first, or at
    /// the end of the table, which is made where there is none.
    private mutating func insert(
        _ values: [(name: String, literal: String)], into table: ArraySlice<String>
    ) {
        // A table in the table of a service needs no head: its name goes before that of the value.
        let least = table.first == "services" ? min(2, table.count) : table.count
        func key(_ names: some Sequence<String>) -> String {
            names.map(TOMLText.key).joined(separator: ".")
        }
        let depth =
            (least...table.count).reversed().first { depth in
                lines.contains { Self.isHead($0, key(table.prefix(depth))) }
            } ?? least
        let tablePath = key(table.prefix(depth))
        let names = values.map { key(table.dropFirst(depth) + [$0.name]) }
        let isReturned = lines.first?.last == "\r"
        let new = zip(names, values).map { name, value in
            Array("\(name) = \(value.literal)\(isReturned ? "\r" : "")".unicodeScalars)
        }
        guard
            let head = tablePath.isEmpty
                ? -1 : lines.firstIndex(where: { Self.isHead($0, tablePath) })
        else {
            if lines.last?.isEmpty == true { lines.removeLast() }
            let blank = Line(isReturned ? ["\r"] : [])
            let head = Array("[\(tablePath)]\(isReturned ? "\r" : "")".unicodeScalars)
            if !lines.isEmpty { lines.append(blank) }
            lines += [head] + new + [[]]
            return
        }
        let begin = head + 1
        let end = lines[begin...].firstIndex { Self.word($0).first == "[" } ?? lines.count
        let section = lines[begin..<end]
        let remark = Array("#\(names.first ?? "")=".unicodeScalars)
        let isBlank = { (line: Line) in Self.word(line).isEmpty }
        let last =
            section.firstIndex { Self.word($0).starts(with: remark) }
            ?? section.lastIndex { !isBlank($0) && Self.word($0).first != "#" }
            ?? section.lastIndex { !isBlank($0) } ?? head
        lines.insert(contentsOf: new, at: last + 1)
        if last + 1 + new.count == lines.count { lines.append([]) }
    }

    private static func word(_ line: Line) -> Line {
        line.filter { !" \t\r\u{FEFF}".unicodeScalars.contains($0) }
    }

    private static func isHead(_ line: Line, _ path: String) -> Bool {
        let word = word(line)
        let head = Array("[\(path)]".unicodeScalars)
        return word == head || word.starts(with: head + ["#"])
    }

    /// The text, once a reader has found in it what stood there before, but for some paths.
    private func checked(
        against before: SettingsText, _ paths: [[String]]
    ) throws(Mistake) -> String {
        let names = Set(paths.map { $0.joined(separator: "\n") })
        let others = { (table: SettingsTable) in
            Self.values(table).filter { !names.contains($0.key) }
        }
        // The text is not shown, so that what is wrong in it does not matter.
        guard let now = try? SettingsDocument.parse(text), others(now) == others(before.table)
        else { throw .tooElaborate(paths.first.flatMap { before.node(at: $0)?.place }) }
        return text
    }

    private static func values(_ table: SettingsTable, _ prefix: String = "") -> [String: String] {
        var all: [String: String] = [:]
        for member in table.members {
            let path = prefix + member.name
            if let inner = member.node.value.table {
                all.merge(values(inner, path + "\n")) { $1 }
            } else {
                all[path] = TOMLText.literal(member.node.value)
            }
        }
        return all
    }
}
