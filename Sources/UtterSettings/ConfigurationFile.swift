// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

enum ConfigurationFile {
    static let path = Environment.configurationFolder + "/config.toml"

    static var state: String {
        unsafe access(path, F_OK) == 0
            ? "\(path) can be used" : "there is no \(path): variables and defaults count"
    }

    /// A path that stands in the file: `~/` is the home, and what is relative begins beside the
    /// file.
    static func expanded(_ text: String) -> String {
        if text.hasPrefix("/") { return text }
        if text.hasPrefix("~/") { return Environment.home + text.dropFirst() }
        return Environment.configurationFolder + "/" + text
    }

    /// Writes a new file, whole or not at all, and makes its folder.
    static func make(_ text: String) throws(CommandFailure) {
        try makeFolder()
        try SecretFile.make(Array(text.utf8), at: path)
    }

    /// Makes the folder and those around it, each for its owner alone, as the XDG Base Directory
    /// Specification demands.
    static func makeFolder() throws(CommandFailure) {
        let folder = Environment.configurationFolder
        var made = ""
        for name in folder.split(separator: "/") {
            made += "/" + name
            guard unsafe mkdir(made, 0o700) != 0 else { continue }
            let error = SystemError.last("mkdir")
            guard error.code != EEXIST, unsafe access(made, F_OK) != 0 else { continue }
            throw CommandFailure(
                "cannot make the folder '\(made)': \(error.reason)", status: .localIO)
        }
    }
}
