// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Whether the file of settings and the person's profiles can be used.
struct ConfigurationCheck: Check {
    let name = "settings"

    func run() async -> [Finding] {
        let path = ConfigurationFile.path
        do throws(CommandFailure) {
            try SettingsListing.check()
            for name in try Services.names() { _ = try Services.profile(name) }
        } catch {
            return [.bad(error)]
        }
        return [
            .good(
                unsafe access(path, F_OK) == 0
                    ? "\(path) can be used" : "there is no \(path): everything is as usual")
        ]
    }
}
