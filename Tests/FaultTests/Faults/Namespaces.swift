// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Mounts that only one program sees; many machines allow them to every user.
enum Namespaces {
    static let areAllowed: Bool = {
        let script = "mount -t tmpfs none /mnt"
        // Where the program is missing they are not allowed either.
        return (try? ForeignTool("unshare").run(["-Urm", "sh", "-c", script])) != nil
    }()

    /// A line of shell that mounts a file system of memory below the home, does `script` with
    /// `utter` as `$0`, and ends like it.
    static func shell(_ options: String, _ script: String = #"exec "$0" "$@""#) -> String {
        let mounted =
            #"mkdir -p "$HOME/.local" && mount -t tmpfs -o \#(options) none "$HOME/.local""#
        return "exec unshare -Urm sh -c '\(mounted) && \(script)' \"$0\" \"$@\""
    }
}
