// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Utter

extension OutputOptions {
    /// The folder of `--cassette`; nil without the option.
    func cassetteFolder() throws(CommandFailure) -> CassetteFolder? {
        guard let cassette else { return nil }
        do throws(SystemError) {
            return try CassetteFolder(
                path: ServiceOptions.absolute(cassette), keepsBodies: cassetteBodies)
        } catch {
            throw CommandFailure(
                "--cassette: '\(cassette)' cannot be used: \(error.reason)", status: .configuration)
        }
    }
}
