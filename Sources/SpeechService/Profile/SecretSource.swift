// SPDX-License-Identifier: Apache-2.0

/// Where a secret comes from, so that it can be fetched again; never the secret itself.
public enum SecretSource: Sendable, Hashable {
    /// An environment variable of this name.
    case variable(String)
    /// The first line of the file at this path.
    case file(String)
    /// What this shell command prints.
    case command(String)
    /// The value of a field in a file of header fields at this path.
    case headerFile(String, field: String)
    /// The credential of this name that systemd has given the process.
    case credential(String)
    /// A pipe at this path, which gives it once; an empty path in what a kept take remembers.
    case pipe(String)
    /// A command line or a program's own memory, neither of which can be asked again.
    case given
}

extension SecretSource: CustomStringConvertible {
    /// The source in words, such as "the variable UTTER_TOKEN".
    public var description: String {
        switch self {
        case .variable(let name): "the variable \(name)"
        case .file(let path), .headerFile(let path, _): "the file '\(path)'"
        case .command(let command): "the command '\(command)'"
        case .credential(let name): "the credential '\(name)'"
        case .pipe: "a pipe"
        case .given: "a command line"
        }
    }
}
