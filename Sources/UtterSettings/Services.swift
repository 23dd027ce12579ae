// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
package import SpeechService

/// The services as a person's settings have them: profiles of their own, and those that ship.
package enum Services {
    package static let folder = ConfigurationFile.folder + "/profiles"

    package static var profiles: Profiles { .shipped + .folder(folder) }

    /// The names of all profiles: the person's own, then the others.
    package static var names: [String] { profiles.names }
}

extension ServiceProfile {
    package static let tokenThere = "token there"

    /// Whether the token of a service is where its profile looks for it; no command is run for that.
    package var tokenState: String {
        let parts = authentication.parts
        guard !parts.isEmpty else { return "no token" }
        for part in parts where part.isRequired {
            switch part.source {
            case .variable(let name)?:
                if (Environment[name] ?? "").isEmpty { return "\(name) is not set" }
            case .file(let path)?:
                if !OwnFile.isRegular(path) { return "no file" }
            case .credential, .command, .headerFile, .pipe, .given, nil: break
            }
        }
        guard parts.contains(where: \.isRequired) else { return "no token needed" }
        return parts.allSatisfy { $0.source != nil || !$0.isRequired }
            ? Self.tokenThere : "token needed"
    }
}
