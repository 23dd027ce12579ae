// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Utter

extension OutputOptions {
    /// The folder of `--record`; nil without the option.
    func cassetteFolder() throws(CommandFailure) -> CassetteFolder? {
        guard let record else { return nil }
        do throws(SystemError) {
            return try CassetteFolder(
                path: ServiceOptions.absolute(record), keepsBodies: recordBodies)
        } catch {
            throw CommandFailure(
                "--record: '\(record)' cannot be used: \(error.reason)", status: .configuration)
        }
    }
}
