// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform

package enum ConfigurationFile {
    /// `$XDG_CONFIG_HOME/utter`, or `~/.config/utter`.
    package static let folder = Environment.folder("XDG_CONFIG_HOME", orBelowHome: "/.config")
    package static let path = folder + "/config.toml"

    /// How long another process may change the file.
    private static let patience = Duration.seconds(5)

    /// Locks the folder of the file.
    ///
    /// - Returns: nil when another process holds it for five seconds.
    package static func lock() throws(SystemError) -> Folder? {
        // The folder itself may be a link.
        let target = unsafe realpath(folder, nil)
        defer { unsafe free(target) }
        let folder = try Folder.make(at: unsafe target.map { unsafe String(cString: $0) } ?? folder)
        return try folder.lock(until: .now + patience) ? folder : nil
    }

    package static var state: String {
        unsafe access(path, F_OK) == 0
            ? "\(path) can be used" : "there is no \(path): variables and defaults count"
    }

    /// A path that stands in the file: `~/` is the home, and what is relative begins beside the
    /// file.
    package static func expanded(_ text: String) -> String {
        if text.hasPrefix("/") { return text }
        if text.hasPrefix("~/") { return Environment.home + text.dropFirst() }
        return folder + "/" + text
    }
}
