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
    /// True or false.
    case flag

    /// Whether the file has it without quotes.
    var isBare: Bool { self == .count || self == .flag }
}
