// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterSettings

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
