// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
package import Settings

/// Values and names as TOML 1.0 writes them.
package enum TOMLText {
    /// A text as a basic string, which every string of JSON is.
    package static func quoted(_ text: String) -> String { JSONText.quoted(text) }

    /// A name as a bare key, or in quotes where it cannot be one.
    package static func key(_ name: String) -> String {
        let isBare = name.utf8.allSatisfy { $0.isLetterOrDigit || "-_".utf8.contains($0) }
        return isBare && !name.isEmpty ? name : quoted(name)
    }

    /// A value on one line.
    package static func literal(_ value: SettingsValue) -> String {
        switch value {
        case .string(let text): return quoted(text)
        case .integer(let number): return String(number)
        case .number(let number): return "\(number)"
        case .flag(let flag): return flag ? "true" : "false"
        case .array(let elements):
            return "[" + elements.map { literal($0.value) }.joined(separator: ", ") + "]"
        case .table(let table) where table.members.isEmpty: return "{}"
        case .table(let table):
            let members = table.members.map { "\(key($0.name)) = \(literal($0.node.value))" }
            return "{ \(members.joined(separator: ", ")) }"
        // No setting takes a date, so the value is never read.
        case .date: return "1970-01-01"
        }
    }

    /// A line for each value of a table and of those in it, and the place of its name.
    package static func lines(
        of table: SettingsTable, in path: String = ""
    ) -> [(text: String, place: SettingsPosition)] {
        table.members.flatMap { member in
            let name = path.isEmpty ? key(member.name) : "\(path).\(key(member.name))"
            if case .table(let inner) = member.node.value, !inner.members.isEmpty {
                return lines(of: inner, in: name)
            }
            return [("\(name) = \(literal(member.node.value))", member.place)]
        }
    }
}
