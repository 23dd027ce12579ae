// SPDX-License-Identifier: Apache-2.0

public import LinuxPlatform
package import Settings

/// Why the description of a service cannot be used.
///
/// No case carries a secret: URLs are stored without user information and query.
public enum ServiceError: Error, Sendable, Equatable {
    /// The text is not a URL that can be posted to; `reason` says what is wrong with it.
    case invalidURL(text: String, reason: String)
    /// The URL carries a name or password in front of its host.
    case userInfoInURL(text: String)
    /// A header field cannot be sent; `reason` says why.
    case invalidHeader(name: String, reason: String)
    /// The credential cannot be sent; `reason` says why.
    case invalidCredential(reason: String)
    /// The way to send a token does not hold its mark exactly once.
    case invalidSecretForm(text: String)
    /// The path into a JSON answer cannot be read at this byte, counted from zero.
    case invalidPath(text: String, offset: Int, reason: String)
    /// There is no such way to read an answer.
    case invalidAnswerRule(text: String)
    /// A form cannot be sent; `reason` says why.
    case invalidForm(reason: String)
    /// A body's field of this name would hold a secret, and a take remembers bodies as they are.
    case secretInBody(name: String)
    /// A text is not a JSON document into which a recording can be put; `reason` says why.
    case invalidTemplate(reason: String)
    /// A connection cannot be made as `what` says; `reason` says why.
    case invalidConnection(what: String, reason: String)
}

extension ServiceError: CustomStringConvertible {
    /// The message: what happened and why, in one line without capital and full stop.
    public var description: String {
        switch self {
        case .invalidURL(let text, let reason):
            "'\(text)' is not a usable URL: \(reason)"
        case .userInfoInURL(let text):
            "'\(text)' carries a user name or password"
        case .invalidHeader(let name, let reason):
            "header '\(name)' cannot be sent: \(reason)"
        case .invalidCredential(let reason):
            "the token cannot be sent: \(reason)"
        case .invalidSecretForm(let text):
            "'\(text)' does not say where the token goes"
        case .invalidPath(let text, let offset, let reason):
            "'\(text)' is not a path into a JSON answer: \(reason) at byte \(offset)"
        case .invalidAnswerRule(let text):
            "'\(text)' is not a way to read an answer"
        case .invalidForm(let reason): "the form cannot be sent: \(reason)"
        case .secretInBody(let name):
            "'\(name)' must not hold a token: what is sent in a form or in JSON is kept as it is"
        case .invalidTemplate(let reason): "the JSON body cannot be sent: \(reason)"
        case .invalidConnection(let what, let reason): "\(what) cannot be used: \(reason)"
        }
    }
}

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
    /// The message: what happened and why, in one line.
    public var description: String {
        switch self {
        case .missingWord(let word, let service): "\(service) needs a \(word)"
        case .unknownWord(let word, let service, _):
            "\(service) has no word '\(TerminalText.shown(word))'"
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
    package init(_ error: SettingsError, of file: String) {
        self.init(error.text(of: file), .correct(file: error.place?.file ?? file))
    }
}
