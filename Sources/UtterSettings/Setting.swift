// SPDX-License-Identifier: Apache-2.0

internal import SpeechService

/// A thing that an option, a variable or the person's file can say.
///
/// The first of these that says something counts: the option of its own, `-c`, the variable, the file.
/// All are read by the same `parse`.
package struct Setting<Value: Sendable>: AnySetting {
    /// Its name in the file; `keep.audio` is `audio` in the table `keep`.
    package let name: String
    package let variable: String?
    package let kind: SettingKind
    /// The form of its values, for a message: "an age with its unit, such as 7d".
    package let form: String
    /// The value when nothing is said, as a person writes it; nil: none.
    package let standard: String?
    package let parse: @Sendable (String) -> Value?

    package init(
        _ name: String, _ variable: String? = nil, _ kind: SettingKind = .text, form: String,
        standard: String? = nil, parse: @escaping @Sendable (String) -> Value?
    ) {
        (self.name, self.variable, self.kind, self.form) = (name, variable, kind, form)
        (self.standard, self.parse) = (standard, parse)
    }

    package func accepts(_ text: String) -> Bool { parse(text) != nil }
}

extension Setting where Value == String {
    package init(
        _ name: String, _ variable: String? = nil, _ kind: SettingKind = .text,
        standard: String? = nil
    ) {
        self.init(name, variable, kind, form: "a non-empty text", standard: standard) {
            $0.isEmpty ? nil : $0
        }
    }
}

package protocol AnySetting: Sendable {
    var name: String { get }
    var variable: String? { get }
    var kind: SettingKind { get }
    var form: String { get }
    var standard: String? { get }

    func accepts(_ text: String) -> Bool
}

package enum SettingKind: Sendable {
    case text
    case count
    /// A string with a unit, or a whole number.
    case size
    case path
    /// A string that is a name, or a path where it looks like one.
    case nameOrPath
    case flag

    package func isPath(_ text: String) -> Bool {
        switch self {
        case .path: true
        case .nameOrPath: Profiles.isPath(text)
        case .text, .count, .size, .flag: false
        }
    }

    /// Whether the file has it without quotes.
    package var isBare: Bool { self == .count || self == .flag }
}
