// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

extension Environment {
    private static let secretNames = Mutex<Set<String>>([])

    /// The variables from which a secret was read.
    static var secrets: Set<String> { secretNames.withLock { $0 } }

    /// The secret that a variable holds, or nil; programs that we run do not get the variable.
    static func secret(_ name: String) -> String? {
        secretNames.withLock { _ = $0.insert(name) }
        return self[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Where takes are kept: `$XDG_STATE_HOME/utter`, or `~/.local/state/utter`.
    static var stateFolder: String { folder("XDG_STATE_HOME", orBelowHome: "/.local/state") }
}
