// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// The services that can be set up.
enum SetupProfiles {
    static func all() throws(CommandFailure) -> [ServiceProfile] { [] }
}
