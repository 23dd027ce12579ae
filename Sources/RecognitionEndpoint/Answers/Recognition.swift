// SPDX-License-Identifier: Apache-2.0

struct Recognition: Sendable, Equatable {
    /// The words, separated by single spaces; empty when nothing was heard.
    var text = ""

    /// The length of the audio, in seconds.
    var duration = 0.0

    var words: [RecognisedWord] = []

    var wantedFormat: String?
}

/// What the speaker seems to have said so far; later words may change earlier ones.
struct PartialRecognition: Sendable, Equatable {
    /// The words, separated by single spaces; not empty.
    var text: String

    /// How much of the audio it is about, in seconds from its beginning.
    var time: Double
}

struct RecognisedWord: Sendable, Equatable {
    var text: String

    /// When it begins, in seconds from the beginning of the audio.
    var start: Double

    /// When it ends, in seconds from the beginning of the audio.
    var end: Double

    /// How sure the recogniser is, from 0 to 1; always 1 with a grammar.
    var probability: Double

    /// The word without PocketSphinx's marks.
    ///
    /// - Returns: nil for a mark that is not a word: `<s>`, `</s>`, `<sil>`, `[NOISE]`, `++COUGH++`,
    ///   `(NULL)`. The mark of a second pronunciation, as in `a(2)`, is cut off.
    static func plainWord(of word: Substring) -> String? {
        if word == "(NULL)" || word.hasPrefix("<") || word.hasPrefix("[") || word.hasPrefix("++") {
            return nil
        }
        guard word.last == ")", let open = word.lastIndex(of: "(") else {
            return word.isEmpty ? nil : String(word)
        }
        let mark = word[word.index(after: open)...].dropLast()
        guard !mark.isEmpty, mark.allSatisfy(\.isNumber), open > word.startIndex else {
            return String(word)
        }
        return String(word[..<open])
    }

    /// A whole hypothesis without PocketSphinx's marks.
    static func plainText(of hypothesis: String) -> String {
        hypothesis.split(separator: " ").compactMap(plainWord).joined(separator: " ")
    }
}
