// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// One thing that an option, a variable or the person's file can say.
///
/// The first of these that says something counts: the option, the variable, the file. All three are
/// read by the same `parse`.
struct Setting<Value: Sendable>: AnySetting {
    /// Its name in the file; `keep.audio` is `audio` in the table `keep`.
    let name: String
    let variable: String?
    let kind: SettingKind
    /// What may be written, for a message: "an age with its unit, such as 7d".
    let form: String
    /// What counts when nothing is said, as a person writes it; nil for nothing.
    let standard: String?
    /// Reads a value as it is written; nil when it is none.
    let parse: @Sendable (String) -> Value?

    init(
        _ name: String, _ variable: String? = nil, _ kind: SettingKind = .text, form: String,
        standard: String? = nil, parse: @escaping @Sendable (String) -> Value?
    ) {
        (self.name, self.variable, self.kind, self.form) = (name, variable, kind, form)
        (self.standard, self.parse) = (standard, parse)
    }

    func accepts(_ text: String) -> Bool { parse(text) != nil }

    /// What counts.
    ///
    /// The variable and the file are read even when an option goes before them: what is wrong there
    /// is found on the first day.
    ///
    /// - Parameter option: what the command line says.
    /// - Returns: nil when none of them says anything.
    /// - Throws: `CommandFailure` when the variable or the file is wrong.
    func value(_ option: Value? = nil) throws(CommandFailure) -> Value? {
        let entry = try Configuration.current()[name]
        let variable = try variableText()
        return option ?? (variable ?? entry?.text).flatMap(parse)
    }
}

extension Setting where Value == String {
    /// A text that may be anything but empty.
    init(
        _ name: String, _ variable: String? = nil, _ kind: SettingKind = .text,
        standard: String? = nil
    ) {
        self.init(name, variable, kind, form: "a text", standard: standard) {
            $0.isEmpty ? nil : $0
        }
    }
}

protocol AnySetting: Sendable {
    var name: String { get }
    var variable: String? { get }
    var kind: SettingKind { get }
    var form: String { get }
    var standard: String? { get }

    func accepts(_ text: String) -> Bool
}

extension AnySetting {
    /// What the variable says; nil when it is not set, or empty.
    func variableText() throws(CommandFailure) -> String? {
        guard let variable, let text = Environment[variable], !text.isEmpty else { return nil }
        guard accepts(text) else {
            throw CommandFailure(
                "\(variable) is '\(text)', which is not \(form)", hint: "correct it, or unset it",
                status: .configuration)
        }
        return text
    }
}
