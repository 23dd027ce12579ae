// SPDX-License-Identifier: Apache-2.0

/// What a setting's value may be in the file.
package enum SettingKind: Sendable {
    /// A string.
    case text
    /// A whole number.
    case count
    /// A string with a unit, or a whole number.
    case size
    /// A string that is a path.
    case path
    /// A string that is a name, or a path where it looks like one.
    case nameOrPath
    /// True or false.
    case flag

    /// Whether a text of this kind, as it stands in the file, is a path.
    func isPath(_ text: String) -> Bool {
        switch self {
        case .path: true
        case .nameOrPath: Services.isPath(text)
        case .text, .count, .size, .flag: false
        }
    }

    /// Whether the file has it without quotes.
    var isBare: Bool { self == .count || self == .flag }
}
