// SPDX-License-Identifier: Apache-2.0

/// Where a secret comes from, so that it can be fetched again; never the secret itself.
public enum SecretSource: Sendable, Hashable {
    /// An environment variable of this name.
    case variable(String)
    /// The first line of the file at this path.
    case file(String)
    /// What this shell command prints.
    case command(String)
    /// The line of the field in a file of header fields at this path.
    case headerFile(String)
    /// The credential of this name that systemd has given the process.
    case credential(String)
    /// A pipe that has given it once.
    case pipe
    /// A command line or a program's own memory, neither of which can be asked again.
    case given
}

extension SecretSource: CustomStringConvertible {
    /// The source in words, such as "the variable UTTER_TOKEN".
    public var description: String {
        switch self {
        case .variable(let name): "the variable \(name)"
        case .file(let path), .headerFile(let path): "the file '\(path)'"
        case .command(let command): "the command '\(command)'"
        case .credential(let name): "the credential '\(name)'"
        case .pipe: "a pipe"
        case .given: "a command line"
        }
    }
}
