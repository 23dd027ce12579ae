// SPDX-License-Identifier: Apache-2.0

package enum SettingsValue: Sendable, Hashable {
    case string(String)
    case integer(Int)
    case number(Double)
    case flag(Bool)
    /// Elements may differ in kind.
    case array([SettingsNode])
    case table(SettingsTable)
    /// A date or a time: no setting takes one.
    case date

    package var kind: String {
        switch self {
        case .string: "a string"
        case .integer: "a whole number"
        case .number: "a number"
        case .flag: "true or false"
        case .array: "a list"
        case .table: "a table"
        case .date: "a date"
        }
    }

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    var integer: Int? { if case .integer(let number) = self { number } else { nil } }
    var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
    var array: [SettingsNode]? { if case .array(let elements) = self { elements } else { nil } }
    package var table: SettingsTable? { if case .table(let table) = self { table } else { nil } }
    var number: Double? {
        if case .number(let number) = self { number } else { integer.map { Double($0) } }
    }
}

package struct SettingsNode: Sendable, Hashable {
    package var value: SettingsValue
    package let place: SettingsPosition
}

/// In the order of the file.
package struct SettingsTable: Sendable, Hashable {
    package struct Member: Sendable, Hashable {
        package let name: String
        /// The place of the name.
        package let place: SettingsPosition
        package var node: SettingsNode
    }

    /// No name occurs twice.
    package var members: [Member]

    package init(_ members: [Member] = []) { self.members = members }

    package subscript(name: String) -> SettingsNode? {
        members.first { $0.name == name }?.node
    }

    /// The texts of all members of this name, those of inner tables among them.
    package func texts(named name: String) -> [String] {
        members.flatMap { member in
            let own = member.name == name ? member.node.value.string : nil
            return [own].compactMap(\.self) + (member.node.value.table?.texts(named: name) ?? [])
        }
    }
}

package struct SettingsPosition: Sendable, Hashable, Comparable {
    /// From 1.
    package let line: Int
    /// From 1, in characters.
    package let column: Int
    /// The file's name; nil where only one file is read.
    package internal(set) var file: String?

    package init(line: Int, column: Int, file: String? = nil) {
        self.line = line
        self.column = column
        self.file = file
    }

    package static func < (one: SettingsPosition, other: SettingsPosition) -> Bool {
        (one.line, one.column) < (other.line, other.column)
    }
}

package struct SettingsError: Error, Sendable, Equatable {
    /// In characters; a reason may repeat what the file says.
    private static let limit = 400

    /// The place of what is wrong; nil when something is missing.
    package internal(set) var place: SettingsPosition?
    package let reason: String

    package init(_ reason: String, at place: SettingsPosition? = nil) {
        self.reason = reason
        self.place = place
    }

    /// As compilers write it; `file` is used unless the place has a name.
    package func text(of file: String) -> String {
        let reason = reason.count > Self.limit ? "\(reason.prefix(Self.limit))…" : reason
        guard let place else { return "\(file): \(reason)" }
        return "\(place.file ?? file):\(place.line):\(place.column): \(reason)"
    }
}
