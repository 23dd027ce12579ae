// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Utter
internal import UtterSettings

/// The environment of programs that we run: without what could hold a secret.
enum ScrubbedEnvironment {
    /// Ours, whatever services there are; a URL may have a token in its query.
    private static let own: Set<String> = [
        ServiceVariables.tokenName, ServiceVariables.urlName, ServiceVariables.proxyLoginName,
        "CREDENTIALS_DIRECTORY",
    ]

    /// The variables in which a service looks for its secret that comes with the program.
    private static let shipped = Profiles.shipped.variables

    /// As "NAME=value"; by the settings as they are now, which a daemon reads again.
    static func entries() -> [String] {
        // An unreadable file names no variable that a secret was read from.
        let services = (try? Configuration.current())?.services ?? [:]
        let named = services.values.compactMap { service in
            if case .variable(let name)? = service.token { name } else { nil }
        }
        let personal = Profiles.folder(Services.folder).variables
        let secret = own.union(Environment.secrets).union(shipped).union(named).union(personal)
        return Environment.all { !secret.contains($0) }
    }
}
