// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Settings
package import SpeechService

/// The services as a person's settings have them: profiles of their own, and those that ship.
package enum Services {
    package static var folder: String { ConfigurationFile.folder + "/profiles" }

    package static var profiles: Profiles { .shipped + .folder(folder) }

    package static var names: [String] { profiles.names }
}

extension ServiceProfile {
    package static let tokenThere = "token found"

    /// Whether the token of a service is where its profile looks for it; no command is run for that.
    package var tokenState: String {
        let parts = authentication.parts
        guard !parts.isEmpty else { return "token not used" }
        for part in parts where part.isRequired {
            switch part.source {
            case .variable(let name)?:
                // A file that cannot be used is told when it is to be.
                let shared = (try? SharedCredentials.value(of: name)) ?? nil
                if Environment[filled: name] ?? shared == nil { return "\(name) is not set" }
            case .file(let path)?:
                if !OwnFile.isRegular(path) { return "token file missing" }
            case .credential, .command, .headerFile, .given, nil: break
            }
        }
        guard parts.contains(where: \.isRequired) else { return "token optional" }
        return parts.allSatisfy { $0.source != nil || !$0.isRequired }
            ? Self.tokenThere : "token needed"
    }
}

/// A profile as it counts, in TOML, with the place of each part.
package enum ProfileListing {
    /// The text; behind each value stands the file and the line that it comes from, which may be that
    /// of the settings.
    package static func text(
        of profile: ServiceProfile, by settings: ServiceSettings? = nil
    ) -> String {
        let name = settings?.name ?? profile.name
        var lines = ["# \(name): \(TerminalText.singleLine(profile.title))"]
        lines += profile.texts.map { "# read from \($0.place)" }
        let state = String(profile.tokenState.trimmingPrefix("token "))
        let token = settings?.token.map {
            "from \($0), \(state.hasSuffix(" is not set") ? "which is not set" : state)"
        }
        lines.append("# token: \(TerminalText.singleLine(token ?? state))")
        for word in profile.words {
            var line = "# word \(word.name)"
            if let standard = word.standard { line += ", \(standard) by default" }
            if word.isRequired { line += ", required" }
            if let about = word.about { line += ": \(TerminalText.singleLine(about))" }
            lines.append(line)
        }
        lines.append("")
        var table = profile.table
        table.members.removeAll {
            // The other way of a service elsewhere does not count.
            $0.name == "extends" || $0.name == "live" && !profile.hasLiveWay
        }
        lines += TOMLText.lines(of: table).map { line, origin in
            let url = line.hasPrefix("url = ") ? settings?.url : nil
            let text = url.map { _ in "url = \(TOMLText.quoted(profile.url.text))" } ?? line
            let place = url?.place ?? settings?.place(of: origin) ?? origin
            return "\(text)  # \(place.file ?? ConfigurationFile.path):\(place.line)"
        }
        return lines.joined(separator: "\n")
    }
}
