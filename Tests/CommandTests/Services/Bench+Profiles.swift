// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

extension Bench {
    /// A place with profiles of the person's own, by their names.
    static func withProfiles(
        _ profiles: [String: String], server: RecordingServer? = nil,
        _ variables: [String: String] = [:]
    ) throws -> Bench {
        let bench = try Bench(server: server, variables)
        for (name, text) in profiles { try bench.writeProfile(text, to: name) }
        return bench
    }

    func profilePath(_ name: String) -> String {
        folder.path(".config/utter/profiles/\(name).toml")
    }

    func writeProfile(_ text: String, to name: String) throws {
        makeConfigurationFolder()
        mkdir(folder.path(".config/utter/profiles"), 0o700)
        try folder.write(Array(text.utf8), to: ".config/utter/profiles/\(name).toml")
        chmod(profilePath(name), 0o600)
    }
}
