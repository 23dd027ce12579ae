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
        var table = profile.table
        table.members.removeAll { $0.name == "extends" }
        lines += TOMLText.lines(of: table).map {
            "\($0.text)  # \($0.place.file ?? ""):\($0.place.line)"
        }
        return lines.joined(separator: "\n")
    }
}
