// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Whether what belongs to the program is installed beside it.
struct InstallationCheck: Check {
    let name = "installation"

    /// What is looked for from the prefix on, and what it is for.
    private static let files = [
        ("share/man/man1/utter.1", "the manual"),
        ("libexec/utter/utter-endpoint", "utter serve and utter demo"),
        ("libexec/utter/utter-keys", "utter keys"),
        ("share/bash-completion/completions/utter", "completions for bash"),
    ]

    func run() async -> [Finding] {
        let folder = Launch.programFolder
        guard folder.hasSuffix("/bin") else {
            return [
                .warning(
                    "utter runs from \(folder), where it was built",
                    hint: "install it with: make install PREFIX=~/.local")
            ]
        }
        let prefix = String(folder.dropLast(4))
        let missing = Self.files.filter { path, _ in
            // A package compresses manuals.
            unsafe access("\(prefix)/\(path)", F_OK) != 0
                && access("\(prefix)/\(path).gz", F_OK) != 0
        }
        guard !missing.isEmpty else { return [.good("all files are in \(prefix)")] }
        return missing.map { path, use in
            .warning("\(prefix)/\(path) is missing: \(use)", hint: "install utter once more")
        }
    }
}
