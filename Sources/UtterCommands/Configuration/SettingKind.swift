// SPDX-License-Identifier: Apache-2.0

internal import Utter

enum SettingKind: Sendable {
    case text
    case count
    /// A string with a unit, or a whole number.
    case size
    /// A string that is a path.
    case path
    /// A string that is a name, or a path where it looks like one.
    case nameOrPath
    case flag

    /// Whether a text of this kind, as it stands in the file, is a path.
    func isPath(_ text: String) -> Bool {
        switch self {
        case .path: true
        case .nameOrPath: Profiles.isPath(text)
        case .text, .count, .size, .flag: false
        }
    }

    /// Whether the file has it without quotes.
    var isBare: Bool { self == .count || self == .flag }
}
