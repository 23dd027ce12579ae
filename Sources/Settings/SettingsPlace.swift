// SPDX-License-Identifier: Apache-2.0

/// A place in a file of settings, for a message.
package struct SettingsPlace: Sendable, Hashable, Comparable {
    /// The line, from 1.
    package var line: Int
    /// The column, from 1, in characters.
    var column: Int
    /// The file's name; nil where there is one file only.
    package var file: String?

    package init(line: Int, column: Int, file: String? = nil) {
        self.line = line
        self.column = column
        self.file = file
    }

    package static func < (one: SettingsPlace, other: SettingsPlace) -> Bool {
        (one.line, one.column) < (other.line, other.column)
    }
}
