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
    private let table: SettingsTable
    /// The table's own name, such as `answer` or `body.fields`; nil for the outermost.
    private let name: String?
    private var asked: [String] = []

    /// Reads a table; `name` is what a message calls it.
    package init(_ table: SettingsTable, name: String? = nil) {
        self.table = table
        self.name = name
    }

    /// The member with this name, whatever it is.
    package mutating func node(_ key: String) -> SettingsNode? {
        asked.append(key)
        return table[key]
    }

    /// A text.
    package mutating func string(_ key: String) throws(SettingsError) -> String? {
        guard let node = node(key) else { return nil }
        guard case .string(let text) = node.value else { throw wrong(key, node, "a string") }
        return text
    }

    /// A text that is read further; its error is said at its place.
    package mutating func string<Value, Failure: Error>(
        _ key: String, as read: (String) throws(Failure) -> Value,
        reason: (Failure) -> String
    ) throws(SettingsError) -> Value? {
        let place = table[key]?.place
        guard let text = try string(key) else { return nil }
        do throws(Failure) {
            return try read(text)
        } catch {
            throw SettingsError("'\(path(key))': \(reason(error))", at: place)
        }
    }

    /// One of some words.
    package mutating func word<Word: RawRepresentable & CaseIterable>(
        _ key: String, as type: Word.Type = Word.self
    ) throws(SettingsError) -> Word? where Word.RawValue == String {
        let place = table[key]?.place
        guard let text = try string(key) else { return nil }
        if let word = Word(rawValue: text) { return word }
        let words = Word.allCases.map(\.rawValue)
        let hint =
            EditDistance.nearest(to: text, among: words).map { "; did you mean '\($0)'?" }
            ?? "; it is one of \(words.joined(separator: ", "))"
        throw SettingsError("'\(path(key))' cannot be '\(text)'\(hint)", at: place)
    }

    /// A whole number.
    package mutating func integer(_ key: String) throws(SettingsError) -> Int? {
        guard let node = node(key) else { return nil }
        guard case .integer(let number) = node.value else {
            throw wrong(key, node, "a whole number")
        }
        return number
    }

    package mutating func number(_ key: String) throws(SettingsError) -> Double? {
        guard let node = node(key) else { return nil }
        switch node.value {
        case .integer(let number): return Double(number)
        case .number(let number): return number
        default: throw wrong(key, node, "a number")
        }
    }

    /// True or false.
    package mutating func flag(_ key: String) throws(SettingsError) -> Bool? {
        guard let node = node(key) else { return nil }
        guard case .flag(let flag) = node.value else { throw wrong(key, node, "true or false") }
        return flag
    }

    /// Texts: a list of them, or one.
    package mutating func strings(_ key: String) throws(SettingsError) -> [String]? {
        guard let node = node(key) else { return nil }
        if case .string(let text) = node.value { return [text] }
        guard case .array(let elements) = node.value else {
            throw wrong(key, node, "a list of strings")
        }
        return try elements.map { element throws(SettingsError) in
            guard case .string(let text) = element.value else {
                throw wrong(key, element, "a list of strings")
            }
            return text
        }
    }

    /// Whole numbers in a list.
    package mutating func integers(_ key: String) throws(SettingsError) -> [Int]? {
        guard let node = node(key) else { return nil }
        guard case .array(let elements) = node.value else {
            throw wrong(key, node, "a list of whole numbers")
        }
        return try elements.map { element throws(SettingsError) in
            guard case .integer(let number) = element.value else {
                throw wrong(key, element, "a list of whole numbers")
            }
            return number
        }
    }

    /// A table of texts, in the order in which they are written.
    package mutating func texts(
        _ key: String
    ) throws(SettingsError) -> [(name: String, value: String, place: SettingsPlace)]? {
        guard let node = node(key) else { return nil }
        guard case .table(let table) = node.value else { throw wrong(key, node, "a table") }
        return try table.members.map { member throws(SettingsError) in
            guard case .string(let text) = member.node.value else {
                throw wrong("\(key).\(member.name)", member.node, "a string")
            }
            return (name: member.name, value: text, place: member.node.place)
        }
    }

    /// A table, as a reader of its own that the caller finishes.
    package mutating func table(_ key: String) throws(SettingsError) -> SettingsReader? {
        guard let node = node(key) else { return nil }
        guard case .table(let table) = node.value else { throw wrong(key, node, "a table") }
        return SettingsReader(table, name: path(key))
    }

    /// A list of tables, each as a reader of its own that the caller finishes.
    package mutating func tables(_ key: String) throws(SettingsError) -> [SettingsReader]? {
        guard let node = node(key) else { return nil }
        guard case .array(let elements) = node.value else {
            throw wrong(key, node, "a list of tables")
        }
        return try elements.map { element throws(SettingsError) in
            guard case .table(let table) = element.value else {
                throw wrong(key, element, "a list of tables")
            }
            return SettingsReader(table, name: path(key))
        }
    }

    /// Where a member stands; nil when it does not.
    package func place(_ key: String) -> SettingsPlace? { table[key]?.place }

    /// What a message calls a member.
    package func path(_ key: String) -> String { name.map { "\($0).\(key)" } ?? key }

    /// Demands that every member has been asked for.
    package func finish() throws(SettingsError) {
        if let (error, _) = unknown({ _, _ in nil }).first { throw error }
    }

    /// The members that have not been asked for: what to say of each, and the name that may have
    /// been meant; `meant` knows members of other tables, and is asked when none of this one is near.
    package func unknown(
        _ meant: (_ path: String, _ isTable: Bool) -> String?
    ) -> [(error: SettingsError, meant: String?)] {
        table.members.filter { !asked.contains($0.name) }.map { member in
            var isTable = false
            if case .table = member.node.value { isTable = true }
            let path = path(member.name)
            let near =
                EditDistance.nearest(to: member.name, among: asked).map(self.path)
                ?? meant(path, isTable)
            let error = SettingsError(
                "'\(path)' is not known" + (near.map { "; did you mean '\($0)'?" } ?? ""),
                at: member.place)
            return (error, near)
        }
    }

    private func wrong(_ key: String, _ node: SettingsNode, _ wanted: String) -> SettingsError {
        SettingsError("'\(path(key))' must be \(wanted), not \(node.value.kind)", at: node.place)
    }
}
