// SPDX-License-Identifier: Apache-2.0

internal import Settings

extension CommandFailure {
    /// The failure with the place in the file of settings that is to blame; what a file of its own
    /// is to blame for stays as it is.
    func standing(at place: SettingsPlace?) -> CommandFailure {
        guard let place, status != .configuration else { return self }
        var failure = self
        failure.message = SettingsError(message, at: place).text(of: ConfigurationFile.path)
        failure.status = .configuration
        return failure
    }
}
