// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The process's environment; read by the command only, never by the library.
enum Environment {
    /// The value of a variable, or nil.
    static subscript(name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// Whether the terminal, as TERM names it, knows control sequences; one that has no name does not.
    static var terminalHasCodes: Bool { !["", "dumb", "unknown"].contains(self["TERM"] ?? "") }

    private static let secretNames = Mutex<Set<String>>([])

    /// The variables from which a secret was read.
    static var secrets: Set<String> { secretNames.withLock { $0 } }

    /// The secret that a variable holds, or nil; programs that we run do not get the variable.
    static func secret(_ name: String) -> String? {
        secretNames.withLock { _ = $0.insert(name) }
        return self[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// All variables whose names are wanted, as "NAME=value".
    static func all(where isWanted: (String) -> Bool) -> [String] {
        var entries: [String] = []
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            entries.append(unsafe String(cString: entry))
            unsafe next += 1
        }
        return entries.filter { isWanted(String($0.prefix { $0 != "=" })) }
    }

    /// Where takes are kept: `$XDG_STATE_HOME/utter`, or `~/.local/state/utter`.
    static var stateFolder: String { folder("XDG_STATE_HOME", "/.local/state") }

    /// Where the person's settings are: `$XDG_CONFIG_HOME/utter`, or `~/.config/utter`.
    static var configurationFolder: String { folder("XDG_CONFIG_HOME", "/.config") }

    /// Where what lives as long as the person's session is: `$XDG_RUNTIME_DIR/utter`; nil when there
    /// is no such folder.
    static var runtimeFolder: String? {
        guard let folder = self["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else { return nil }
        return folder + "/utter"
    }

    /// The person's home; without a usable HOME the account's own.
    static var home: String {
        if let home = self["HOME"], home.hasPrefix("/") { return home }
        let account = unsafe getpwuid(geteuid())
        let home = unsafe account.flatMap { unsafe $0.pointee.pw_dir }
        return unsafe home.map { unsafe String(cString: $0) } ?? "/nonexistent"
    }

    /// Our folder below the one that a variable names.
    ///
    /// A relative value is ignored, as the XDG Base Directory Specification demands.
    private static func folder(_ variable: String, _ usual: String) -> String {
        if let folder = self[variable], folder.hasPrefix("/") { return folder + "/utter" }
        return home + usual + "/utter"
    }
}
