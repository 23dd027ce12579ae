// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import Utter

extension TakeStoreError: Blamed {
    var status: ExitStatus {
        switch self {
        case .noSuchTake, .audioGone, .notWaiting, .notRemoved: .noInput
        case .ambiguous, .misnamed: .usage
        case .unreadable, .unchangeable, .damaged, .laterVersion: .localIO
        case .keyMissing, .keyWrong, .keyUnavailable: .configuration
        case .inUse: .notDelivered
        case .folderUnusable, .folderUnsafe, .notWanted: .configuration
        }
    }

    var hint: String? {
        switch self {
        case .noSuchTake("last"): "record one with 'utter', or 'utter send' a file"
        case .noSuchTake("all"): "'all' is every take, and stands alone"
        case .noSuchTake: "see what is kept with: utter list"
        case .ambiguous: "give more letters of its id"
        case .audioGone(let take, wasAnswered: true):
            "read what was understood: utter show \(Hints.name(take)); --keep-audio TIME keeps audio for longer"
        case .keyMissing, .keyWrong, .keyUnavailable:
            "give its key with --encrypt-key FILE or UTTER_ENCRYPT_KEY_FILE"
        case .inUse: "wait until that has ended"
        case .laterVersion: "use the newer program; nothing was changed"
        case .folderUnusable: "set XDG_STATE_HOME to a folder that you may write"
        case .folderUnsafe(_, let reason) where reason.contains("link"):
            "set XDG_STATE_HOME to the folder that is meant; utter makes its own in it"
        case .folderUnsafe:
            "look at what is in it, then make it a folder of yours with mode 0700; or set "
                + "XDG_STATE_HOME"
        case .unchangeable: "look who may write there, and whether the disk is read-only"
        case .misnamed(let take, let file, _): Hints.nameHint(for: file, take)
        case .unreadable, .damaged, .audioGone(_, wasAnswered: false), .notWanted, .notWaiting,
            .notRemoved:
            nil
        }
    }
}

extension Hints {
    static func name(_ take: String) -> String { TakeID(take)?.shortName ?? take }

    fileprivate static func nameHint(for file: String, _ take: String) -> String {
        let ending = file.lowercased().split(separator: ".").last ?? ""
        let isRaw = ["raw", "pcm"].contains(ending)
        let known = AudioCodec.allCases.dropFirst().map { ".\($0.fileExtension)" }
        return "name it with \(known.joined(separator: ", ")), or convert it: "
            + "utter export \(name(take)) - | ffmpeg -i - \(isRaw ? "-f s16le " : "")OUT.\(ending)"
    }

    static let fewerTakes = "send them with 'utter retry all', or remove some with 'utter rm'"

    static func of(_ shortage: SpoolShortage) -> String {
        switch shortage {
        case .takes: "\(fewerTakes); UTTER_MAX_TAKES is the limit"
        case .bytes: "\(fewerTakes); UTTER_MAX_BYTES is the limit"
        case .free: "free some space; UTTER_MIN_FREE is the limit"
        }
    }
}

extension KeyError: Blamed {
    var status: ExitStatus { .configuration }

    var hint: String? {
        switch self {
        case .tooShort, .guessable: "make a key with: utter key new FILE"
        case .predictable: "make one with: utter key new --passphrase FILE"
        case .damaged: "copy the whole line that 'utter key new' has written"
        }
    }
}
