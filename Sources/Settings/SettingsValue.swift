// SPDX-License-Identifier: Apache-2.0

/// One value of a file of settings (TOML 1.0).
package enum SettingsValue: Sendable, Hashable {
    case string(String)
    /// A whole number.
    case integer(Int)
    /// A number with a fraction.
    case number(Double)
    /// `true` or `false`.
    case flag(Bool)
    /// A list; its elements may differ in kind.
    case array([SettingsNode])
    case table(SettingsTable)
    /// A date or a time, which no setting is.
    case date

    /// What kind of value it is, for a message.
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
}

/// A value and where it stands.
package struct SettingsNode: Sendable, Hashable {
    package var value: SettingsValue
    /// Where it begins.
    package var place: SettingsPlace

    package init(_ value: SettingsValue, at place: SettingsPlace) {
        self.value = value
        self.place = place
    }
}

/// A table of named values, in the order in which they are written.
package struct SettingsTable: Sendable, Hashable {
    /// A name and its value.
    package struct Member: Sendable, Hashable {
        package var name: String
        /// Where the name stands.
        package var place: SettingsPlace
        package var node: SettingsNode

        init(name: String, place: SettingsPlace, node: SettingsNode) {
            self.name = name
            self.place = place
            self.node = node
        }
    }

    /// The members; no name occurs twice.
    package var members: [Member]

    package init(_ members: [Member] = []) { self.members = members }

    /// The value of a name, or nil.
    package subscript(name: String) -> SettingsNode? {
        members.first { $0.name == name }?.node
    }
}
