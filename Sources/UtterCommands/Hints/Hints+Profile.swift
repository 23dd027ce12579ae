// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterSettings

extension Hints {
    static func of(_ error: ProfileError) -> String? {
        switch error {
        case .missingWord(let word, _): "say it with \(option(of: word))VALUE"
        case .unknownWord(_, _, let known):
            known.isEmpty ? "leave it out" : "it has: \(known.joined(separator: ", "))"
        case .valueNotTaken(_, let word, _, let taken):
            taken.first.map { "write \(option(of: word))\($0)" }
        case .valueNotOfHost(_, let word, _):
            "write letters, digits, '-' and '.' for the \(word)"
        case .formatNotTaken(_, _, let taken): taken.first.map { "write --format \($0)" }
        case .unreadable(let error): of(error)
        case .unusable(let error, _): of(error)
        case .unknownService:
            "see 'utter services'; describe another one with: utter services new NAME"
        case .noFile: nil
        }
    }

    static func of(_ error: ReadingError) -> String? {
        switch error.remedy {
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

    private static func option(of word: String) -> String {
        ProfileWord.usual.contains(word) ? "--\(word) " : "--set \(word)="
    }
}

extension CommandFailure {
    init(_ error: ProfileError) {
        let status: ExitStatus =
            switch error {
            case .unreadable, .unusable: .configuration
            case .noFile: .noInput
            default: .usage
            }
        self.init(error.description, hint: Hints.of(error), status: status)
    }

    init(_ error: ReadingError) {
        self.init(error.description, hint: Hints.of(error), status: .configuration)
    }
}
