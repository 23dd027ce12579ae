// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The process's environment; read by the command only, never by the library.
package enum Environment {
    /// The value of a variable, or nil.
    package static subscript(name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// Where takes are kept: `$XDG_STATE_HOME/utter`, or `~/.local/state/utter`.
    ///
    /// A relative value is ignored, as the XDG Base Directory Specification demands.
    package static var stateFolder: String {
        if let state = self["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/utter" }
        if let home = self["HOME"], home.hasPrefix("/") { return home + "/.local/state/utter" }
        // Without a usable HOME the account's own.
        let account = unsafe getpwuid(geteuid())
        let home = unsafe account.flatMap { unsafe $0.pointee.pw_dir }
        return unsafe (home.map { unsafe String(cString: $0) } ?? "/nonexistent")
            + "/.local/state/utter"
    }
}
