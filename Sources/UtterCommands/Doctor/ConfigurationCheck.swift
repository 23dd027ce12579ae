// SPDX-License-Identifier: Apache-2.0

/// Whether the file of settings and the person's profiles can be used.
struct ConfigurationCheck: Check {
    let name = "settings"

    func run() async -> [Finding] {
        do throws(CommandFailure) {
            try SettingsListing.check()
            for name in Services.names { _ = try Services.profile(name) }
        } catch {
            return [.bad(error)]
        }
        return [.good(ConfigurationFile.state)]
    }
}
