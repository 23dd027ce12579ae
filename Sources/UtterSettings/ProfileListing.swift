// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Settings
package import SpeechService

/// A profile as it counts, in TOML, with the place of each part.
package enum ProfileListing {
    /// The text; behind each value stands the file and the line that it comes from.
    package static func text(of profile: ServiceProfile) -> String {
        var lines = ["# \(profile.name): \(TerminalText.singleLine(profile.title))"]
        lines += profile.texts.map { "# read from \($0.place)" }
        lines.append("# token: \(profile.tokenState)")
        for word in profile.words {
            var line = "# word \(word.name)"
            if let standard = word.standard { line += ", usually \(standard)" }
            if word.isRequired { line += ", required" }
            if let about = word.about { line += ": \(TerminalText.singleLine(about))" }
            lines.append(line)
        }
        lines.append("")
        lines += members(of: profile.table, in: "")
        return lines.joined(separator: "\n")
    }

    private static func members(of table: SettingsTable, in path: String) -> [String] {
        var lines: [String] = []
        for member in table.members where path != "" || member.name != "extends" {
            let name =
                path.isEmpty ? TOMLText.key(member.name) : "\(path).\(TOMLText.key(member.name))"
            if case .table(let inner) = member.node.value, !inner.members.isEmpty {
                lines += members(of: inner, in: name)
            } else {
                let place = "\(member.place.file ?? ""):\(member.place.line)"
                lines.append("\(name) = \(text(of: member.node.value))  # \(place)")
            }
        }
        return lines
    }

    private static func text(of value: SettingsValue) -> String {
        switch value {
        case .string(let text): TOMLText.quoted(text)
        case .integer(let number): String(number)
        case .number(let number): "\(number)"
        case .flag(let flag): flag ? "true" : "false"
        case .array(let elements):
            "[" + elements.map { text(of: $0.value) }.joined(separator: ", ") + "]"
        case .table(let table):
            table.members.isEmpty
                ? "{}"
                : "{ "
                    + table.members.map { "\(TOMLText.key($0.name)) = \(text(of: $0.node.value))" }
                    .joined(separator: ", ") + " }"
        case .date: "\"\""
        }
    }
}
