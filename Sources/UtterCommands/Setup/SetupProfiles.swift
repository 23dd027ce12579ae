// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterTerminal

/// The services that can be set up.
enum SetupProfiles {
    /// All that can be used; a file of the person's own that is wrong is left out, and said.
    static func all() throws(CommandFailure) -> [ServiceProfile] {
        var profiles: [ServiceProfile] = []
        for name in Services.names {
            do throws(CommandFailure) {
                profiles.append(try Services.profile(name))
            } catch {
                StandardError.line("warning: \(error.message)")
            }
        }
        return profiles
    }
}
