// SPDX-License-Identifier: Apache-2.0

/// Where a secret comes from, so that it can be fetched again; never the secret itself.
public enum SecretSource: Sendable, Hashable {
    /// An environment variable of this name.
    case variable(String)
    /// The first line of the file at this path.
    case file(String)
    /// What this shell command prints.
    case command(String)
    /// All header fields of the file at this path.
    case headerFile(String)
    /// The credential of this name that systemd has given the process.
    case credential(String)
    /// A command line or a program's own memory, neither of which can be asked again.
    case given
}

extension SecretSource {
    /// True for a pipe such as `/dev/fd/3`.
    package var isReadOnce: Bool {
        switch self {
        case .file(let path), .headerFile(let path):
            path.hasPrefix("/dev/") || path.hasPrefix("/proc/")
        case .variable, .command, .credential, .given: false
        }
    }

    /// Whether the source cannot be asked again: what a kept take remembers of a pipe has no path.
    package var isGone: Bool {
        switch self {
        case .file(let path), .headerFile(let path): path.isEmpty
        case .given: true
        case .variable, .command, .credential: false
        }
    }
}

extension SecretSource: CustomStringConvertible {
    /// The source in words, such as "the variable UTTER_TOKEN".
    public var description: String {
        switch self {
        case .variable(let name): "the variable \(name)"
        case .file(""), .headerFile(""): "a pipe"
        case .file(let path), .headerFile(let path): "the file '\(path)'"
        case .command(let command): "the command '\(command)'"
        case .credential(let name): "the credential '\(name)'"
        case .given: "a command line"
        }
    }
}
