// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// The environment of the programs that get a text: without what could hold a secret.
enum ScrubbedEnvironment {
    /// Ours, whatever services there are; a URL may have a token in its query.
    private static let own: Set<String> = [
        ServiceVariables.tokenName, ServiceVariables.urlName, ConnectionOptions.loginVariable,
        "CREDENTIALS_DIRECTORY",
    ]

    /// What such a program gets, as "NAME=value".
    static func entries() -> [String] {
        let secret = names
        return Environment.all { !secret.contains($0) }
    }

    private static var names: Set<String> { own.union(Environment.secrets).union(declared) }

    /// The names of all variables in which a service of the person's, or one that comes with the
    /// program, looks for a secret.
    private static let declared: Set<String> = {
        var names: Set<String> = []
        // What cannot be read names no variable that a secret was read from.
        let configuration = try? Configuration.current()
        for token in configuration?.services.values.map(\.token) ?? [] {
            if case .variable(let name)? = token { names.insert(name) }
        }
        // As above.
        for service in Services.names {
            // As above.
            for part in (try? Services.profile(service))?.authentication.parts ?? [] {
                if case .variable(let name)? = part.source { names.insert(name) }
            }
        }
        return names
    }()
}
