// SPDX-License-Identifier: Apache-2.0

internal import Settings
package import Utter

extension Hints {
    package static func of(_ error: ProfileError) -> String? {
        switch error {
        case .missingWord(let word, _): "say it with \(option(of: word))VALUE"
        case .unknownWord(_, _, let known):
            known.isEmpty ? "leave it out" : "it has: \(known.joined(separator: ", "))"
        case .valueNotTaken(_, let word, _, let taken):
            taken.first.map { "write \(option(of: word))\($0)" }
        case .valueNotOfHost(_, let word, _):
            "write letters, digits, '-' and '.' for the \(word)"
        case .formatNotTaken(_, _, let taken): taken.first.map { "write --format \($0)" }
        case .unreadable(let error, _):
            error.place?.file?.hasPrefix("/") == false
                ? "say it in a profile of your own, which counts first: utter services new NAME"
                : "correct it there"
        case .unusable(let error, _): of(error)
        case .forgotten: nil
        }
    }

    private static func option(of word: String) -> String {
        ProfileWord.usual.contains(word) ? "--\(word) " : "--set \(word)="
    }
}

extension CommandFailure {
    package init(_ error: ProfileError) {
        let status: ExitStatus =
            switch error {
            case .unreadable, .unusable, .forgotten: .configuration
            default: .usage
            }
        self.init(error.description, hint: Hints.of(error), status: status)
    }
}
