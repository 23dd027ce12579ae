// SPDX-License-Identifier: Apache-2.0

/// Reads the members of a table by name and kind, and complains of those that it was not asked for.
///
/// Ask for every member that there may be, then call `finish()`:
///
/// ```
/// var reader = SettingsReader(table)
/// let url = try reader.string("url")
/// try reader.finish()
/// ```
package struct SettingsReader {
    package let table: SettingsTable
    private let name: String?
    private var asked: [String] = []

    /// `name` stands before the members in messages.
    package init(_ table: SettingsTable, name: String? = nil) {
        self.table = table
        self.name = name
    }

    package mutating func node(_ key: String) -> SettingsNode? {
        // A key may be read as one kind and then as another.
        if !asked.contains(key) { asked.append(key) }
        return table[key]
    }

    package mutating func string(_ key: String) throws(SettingsError) -> String? {
        try value(key, "a string", \.string)
    }

    /// Reads the text further; an error names its place.
    package mutating func string<Value, Failure: Error & CustomStringConvertible>(
        _ key: String, as read: (String) throws(Failure) -> Value
    ) throws(SettingsError) -> Value? {
        guard let text = try string(key) else { return nil }
        return try value(of: text, key, read)
    }

    package mutating func word<Word: RawRepresentable & CaseIterable>(
        _ key: String, as type: Word.Type = Word.self
    ) throws(SettingsError) -> Word? where Word.RawValue == String {
        guard let text = try string(key) else { return nil }
        if let word = Word(rawValue: text) { return word }
        let words = Word.allCases.map(\.rawValue)
        if let near = EditDistance.nearest(to: text, among: words) {
            throw error(key, " cannot be '\(text)'; did you mean '\(near)'?")
        }
        let known = words.dropLast().joined(separator: ", ") + " or \(words.last ?? "")"
        throw error(key, " must be \(known), not '\(text)'")
    }

    package mutating func integer(_ key: String) throws(SettingsError) -> Int? {
        try value(key, "a whole number", \.integer)
    }

    package mutating func number(_ key: String) throws(SettingsError) -> Double? {
        try value(key, "a number", \.number)
    }

    /// A time: a number of seconds, or a text such as "1m30s".
    package mutating func seconds(
        _ key: String, upTo limit: Int, allowsZero: Bool = false
    ) throws(SettingsError) -> Duration? {
        var said = node(key)?.value.string.flatMap(TimeText.seconds)
        if said == nil { said = try number(key) }
        guard let number = said else { return nil }
        return try duration(number, of: key, upTo: limit, allowsZero: allowsZero)
    }

    /// A list of numbers of seconds, each 0 or more.
    package mutating func times(
        _ key: String, upTo limit: Int
    ) throws(SettingsError) -> [Duration]? {
        try list(key, of: "numbers", \.number)?.map { number throws(SettingsError) in
            try duration(number, of: key, upTo: limit, allowsZero: true)
        }
    }

    private func duration(
        _ number: Double, of key: String, upTo limit: Int, allowsZero: Bool
    ) throws(SettingsError) -> Duration {
        guard allowsZero ? number >= 0 : number > 0, number <= Double(limit) else {
            throw error(
                key, " must be \(allowsZero ? "0 or more" : "above 0") and at most \(limit)")
        }
        // In whole milliseconds: 2.4 is not a binary fraction.
        return .milliseconds(Int((number * 1_000).rounded()))
    }

    package mutating func flag(_ key: String) throws(SettingsError) -> Bool? {
        try value(key, "true or false", \.flag)
    }

    /// A list of strings, or one string.
    package mutating func strings(_ key: String) throws(SettingsError) -> [String]? {
        if let text = node(key)?.value.string { return [text] }
        return try list(key, of: "strings", \.string)
    }

    /// Reads each of the texts further; an error names the place of the list.
    package mutating func strings<Value, Failure: Error & CustomStringConvertible>(
        _ key: String, as read: (String) throws(Failure) -> Value
    ) throws(SettingsError) -> [Value]? {
        try strings(key)?.map { text throws(SettingsError) in try value(of: text, key, read) }
    }

    private func value<Value, Failure: Error & CustomStringConvertible>(
        of text: String, _ key: String, _ read: (String) throws(Failure) -> Value
    ) throws(SettingsError) -> Value {
        do throws(Failure) {
            return try read(text)
        } catch let failure {
            throw error(key, ": \(failure.description)")
        }
    }

    package mutating func integers(_ key: String) throws(SettingsError) -> [Int]? {
        try list(key, of: "whole numbers", \.integer)
    }

    private mutating func value<Value>(
        _ key: String, _ wanted: String, _ read: (SettingsValue) -> Value?
    ) throws(SettingsError) -> Value? {
        guard let node = node(key) else { return nil }
        guard let value = read(node.value) else { throw wrong(key, node, wanted) }
        return value
    }

    private mutating func list<Value>(
        _ key: String, of kind: String, _ read: (SettingsValue) -> Value?
    ) throws(SettingsError) -> [Value]? {
        try value(key, "a list of \(kind)", \.array)?.map { element throws(SettingsError) in
            guard let value = read(element.value) else {
                throw wrong(key, element, "a list of \(kind)")
            }
            return value
        }
    }

    /// In the order of the file.
    package mutating func texts(
        _ key: String
    ) throws(SettingsError) -> [(name: String, value: String, place: SettingsPosition)]? {
        try value(key, "a table", \.table)?.members.map { member throws(SettingsError) in
            guard let text = member.node.value.string else {
                throw wrong("\(key).\(member.name)", member.node, "a string")
            }
            return (name: member.name, value: text, place: member.node.place)
        }
    }

    /// The caller calls `finish()` of the table's reader.
    package mutating func table(_ key: String) throws(SettingsError) -> SettingsReader? {
        let name = path(key)
        return try value(key, "a table", \.table).map { SettingsReader($0, name: name) }
    }

    /// Reads a table to its end.
    package mutating func table<Value>(
        _ key: String, as read: (inout SettingsReader) throws(SettingsError) -> Value
    ) throws(SettingsError) -> Value? {
        guard var table = try table(key) else { return nil }
        let value = try read(&table)
        try table.finish()
        return value
    }

    /// The caller calls `finish()` of each reader.
    package mutating func tables(_ key: String) throws(SettingsError) -> [SettingsReader]? {
        let name = path(key)
        return try list(key, of: "tables", \.table)?.map { SettingsReader($0, name: name) }
    }

    package func place(_ key: String) -> SettingsPosition? { table[key]?.place }

    /// The error about a member: `reason` stands behind its name.
    package func error(_ key: String, _ reason: String) -> SettingsError {
        SettingsError("'\(path(key))'\(reason)", at: place(key))
    }

    package func path(_ key: String) -> String { name.map { "\($0).\(key)" } ?? key }

    package func finish() throws(SettingsError) {
        if let (error, _) = unknown({ _, _ in nil }).first { throw error }
    }

    /// Members not asked for: the error, and the name that may have been meant, or else their own;
    /// `meant` knows other tables, and is asked when no name of this one is near.
    package func unknown(
        _ meant: (_ path: String, _ isTable: Bool) -> String?
    ) -> [(error: SettingsError, meant: String)] {
        table.members.filter { !asked.contains($0.name) }.map { member in
            let path = path(member.name)
            let near =
                EditDistance.nearest(to: member.name, among: asked).map(self.path)
                ?? meant(path, member.node.value.table != nil)
            let error = SettingsError(
                "'\(path)' is not known" + (near.map { "; did you mean '\($0)'?" } ?? ""),
                at: member.place)
            return (error, near ?? path)
        }
    }

    private func wrong(_ key: String, _ node: SettingsNode, _ wanted: String) -> SettingsError {
        SettingsError("'\(path(key))' must be \(wanted), not \(node.value.kind)", at: node.place)
    }
}

package enum EditDistance {
    /// The letters that must be inserted, left out, replaced or exchanged with their neighbour
    /// (Damerau and Levenshtein, no letter twice).
    package static func between(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one), Array(other))
        guard !one.isEmpty, !other.isEmpty else { return max(one.count, other.count) }
        var before = [Int](repeating: 0, count: other.count + 1)
        var last = Array(0...other.count)
        for row in 1...one.count {
            var next = [row]
            for column in 1...other.count {
                let isSame = one[row - 1] == other[column - 1]
                var cost = min(
                    last[column] + 1, next[column - 1] + 1, last[column - 1] + (isSame ? 0 : 1))
                if row > 1, column > 1, one[row - 1] == other[column - 2],
                    one[row - 2] == other[column - 1]
                {
                    cost = min(cost, before[column - 2] + 1)
                }
                next.append(cost)
            }
            (before, last) = (last, next)
        }
        return last[other.count]
    }

    /// The word that was meant, when one is near enough: one slip in three letters.
    ///
    /// - Returns: the nearest; of several the first. A word of which only the beginning was typed
    ///   is meant when no other begins so.
    package static func nearest(to typed: String, among words: [String]) -> String? {
        let near = words.map { (word: $0, distance: between(typed, $0)) }
            .filter { $0.distance <= max(1, max(typed.count, $0.word.count) / 3) }
            .min { $0.distance < $1.distance }
        // In words of two letters one slip is half of it.
        if let near, near.distance < min(typed.count, near.word.count) { return near.word }
        let begun = words.filter { typed.count > 1 && $0.hasPrefix(typed) }
        return begun.count == 1 ? begun[0] : nil
    }
}
