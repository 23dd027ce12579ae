// SPDX-License-Identifier: Apache-2.0

public import LinuxPlatform
package import Settings

/// Why no request can be made by a profile and what is said of it.
public enum ProfileError: Error, Sendable, Equatable {
    /// The service cannot be asked without this word.
    case missingWord(String, service: String)
    /// The service has no such word; `known` are those that it has.
    case unknownWord(String, service: String, known: [String])
    /// The service has no such value for the word; `taken` are those that it has.
    case valueNotTaken(String, word: String, service: String, taken: [String])
    /// The value cannot stand in a host's name.
    case valueNotOfHost(String, word: String, service: String)
    /// The service does not read audio in this form; `taken` are those that it reads.
    case formatNotTaken(String, service: String, taken: [String])
    /// The profile cannot be read, or says what it may not.
    case unreadable(ReadingError)
    /// No request can be made of what the profile and its words say.
    case unusable(ServiceError, service: String)
    /// There is no profile of this name; `near` is one that may have been meant.
    case unknownService(String, near: String?)
    /// There is no file at this path.
    case noFile(String)
}

extension ProfileError: CustomStringConvertible {
    /// What happened and why, in one line.
    public var description: String {
        switch self {
        case .missingWord(let word, let service): "\(service) needs a \(word)"
        case .unknownWord(let word, let service, _): "\(service) has no \(TerminalText.shown(word))"
        case .valueNotTaken(let value, let word, let service, let taken):
            "\(service) has no \(word) '\(TerminalText.shown(value))'; "
                + "it has \(taken.joined(separator: ", "))"
        case .valueNotOfHost(let value, let word, let service):
            "\(service): the \(word) '\(TerminalText.shown(value))' cannot stand in a host's name"
        case .formatNotTaken(let format, let service, let taken):
            "\(service) does not read \(format); it reads \(taken.joined(separator: ", "))"
        case .unreadable(let error): error.description
        case .unusable(let error, let service): "\(service): \(error.description)"
        case .unknownService(let name, let near):
            "there is no service '\(TerminalText.shown(name))'"
                + (near.map { "; did you mean '\($0)'?" } ?? "")
        case .noFile(let path): "there is no file '\(path)'"
        }
    }
}

extension ReadingError {
    /// What is wrong in a file, with its place.
    package init(_ error: SettingsError, of file: String) {
        self.init(error.text(of: file), .correct(file: error.place?.file ?? file))
    }
}
