// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
internal import Utter
internal import UtterSettings

/// An error that a command can report: how it exits, and what a person can do about it.
///
/// The libraries say what happened and why. Options, commands and variables stand here alone, in
/// one file for each family of errors. A hint is nil when nothing helps.
protocol Blamed: Error, CustomStringConvertible {
    var status: ExitStatus { get }
    var hint: String? { get }
}

extension SystemError: Blamed {
    var status: ExitStatus { isOfLimit ? .localIO : .internalError }

    var hint: String? {
        guard isOfLimit else { return nil }
        return switch code {
        case EMFILE: "raise the limit with: ulimit -n 256"
        case ENFILE: "too many files are open on this machine; end other programs"
        case ENOMEM: "end other programs, or raise the limit with: ulimit -v unlimited"
        default: "raise the limits with: ulimit -u unlimited; ulimit -v unlimited"
        }
    }
}

/// The advice for a person, in the words of the command line.
package enum Hints {
    /// The hint for a file or folder that cannot be opened, written or made.
    package static func ofFile(_ error: SystemError) -> String? {
        switch error.code {
        case ENOENT, ENOTDIR: "check the name, and that its folder is there"
        case EACCES, EPERM: "check whose it is, and who may use it, with: ls -ld"
        case EROFS, ENOSPC, EDQUOT: "name a place on another disk"
        case EISDIR: "name a file in it"
        default: error.hint
        }
    }

    static let noReleases =
        "leave --hold and --key away and press Space or Enter, or use a terminal with the kitty "
        + "keyboard protocol, without tmux or screen"
}

extension ProfileError: Blamed {
    var status: ExitStatus {
        switch self {
        case .unreadable, .unusable: .configuration
        case .noFile: .noInput
        default: .usage
        }
    }

    var hint: String? {
        switch self {
        case .missingWord(let word, _): "say it with \(option(of: word))VALUE"
        case .unknownWord(_, _, let known):
            known.isEmpty ? "leave it out" : "it has: \(known.joined(separator: ", "))"
        case .valueNotTaken(_, let word, _, let taken):
            taken.first.map { "write \(option(of: word))\($0)" }
        case .valueNotOfHost(_, let word, _):
            "write letters, digits, '-' and '.' for the \(word)"
        case .formatNotTaken(_, _, let taken): taken.first.map { "write --format \($0)" }
        case .unreadable(let error): error.hint
        case .unusable(let error, _): error.hint
        case .unknownService:
            "see 'utter services'; describe another one with: utter services new NAME"
        case .noFile: nil
        }
    }

    private func option(of word: String) -> String {
        ProfileWord.usual.contains(word) ? "--\(word) " : "--set \(word)="
    }
}

extension ReadingError: Blamed {
    var status: ExitStatus { .configuration }

    var hint: String? {
        switch remedy {
        case .correct(ConfigurationFile.path): "correct it with: utter config edit"
        case .correct(let file):
            file.hasPrefix("shipped/")
                ? "say it in a profile of your own, which counts first: utter services new NAME"
                : "correct it there"
        case .move: "move it away"
        case .closeToReaders(let path):
            "change that with: chmod 600 \(ShellWord.quoted(path))"
        case .closeToWriters(let path):
            "change that with: chmod go-w \(ShellWord.quoted(path))"
        case .writeFirstLine: "write the token on its first line, and nothing else there"
        case .writeToPipe: "see whether a program writes to it"
        case nil: nil
        }
    }
}
