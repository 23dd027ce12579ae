// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import TextRules

/// Where an answer lists words, or longer pieces, with their times in the audio.
struct TimedTextRule: Sendable, Hashable {
    /// The first list that is there counts.
    var paths: [JSONPath]
    var text = [JSONPath](dotted: "punctuated_word", "word", "text", "token")
    var start = [JSONPath](dotted: "start", "start_time", "startTime")
    var end = [JSONPath](dotted: "end", "end_time", "endTime")
    /// Values from 0 to 1.
    var confidence = [JSONPath](dotted: "probability", "confidence")
    var speaker = [JSONPath](dotted: "speaker", "speaker_id")
    /// Seconds per unit of time.
    var unit = 1.0
    /// Whether a word is final, where a value has some that are and others; they are the text then, and
    /// a word begins with its space.
    var isFinal: [JSONPath] = []

    init(paths: [JSONPath]) { self.paths = paths }

    func elements(in value: JSONValue) -> [RecognizedWord] {
        let list = paths.lazy.compactMap { $0.values(in: value).first?.elements }.first
        return list?.compactMap(element) ?? []
    }

    /// The pieces of words, and whether each is final; nil where the rule does not tell.
    func pieces(in value: JSONValue) -> [(piece: RecognizedWord, isFinal: Bool)]? {
        guard !isFinal.isEmpty else { return nil }
        let list = paths.lazy.compactMap { $0.values(in: value).first?.elements }.first
        return list?.compactMap { value in
            element(value).map { piece in
                (piece, isFinal.contains { $0.values(in: value).first == .bool(true) })
            }
        }
    }

    func element(_ value: JSONValue) -> RecognizedWord? {
        guard let text = text.lazy.compactMap({ $0.values(in: value).first?.string }).first
        else { return nil }
        return RecognizedWord(
            text: text, start: start.number(in: value).map { $0 * unit },
            end: end.number(in: value).map { $0 * unit },
            probability: confidence.number(in: value), speaker: speaker.label(in: value))
    }
}

extension [RecognizedWord] {
    /// Whether a word begins with this piece: the first one has a space before it, or is a sign of a
    /// script without spaces, as what follows such a sign.
    func beginsWord(at index: Int) -> Bool {
        let before = index > 0 ? self[index - 1].text.unicodeScalars.last : nil
        let first = self[index].text.unicodeScalars.first
        return self[index].text.first?.isWhitespace == true || before?.needsNoSpace == true
            || index > 0 && first?.needsNoSpace == true
    }

    /// The words of which these are pieces.
    var wholeWords: [RecognizedWord] {
        var words: [RecognizedWord] = []
        for (index, piece) in enumerated() {
            if words.isEmpty || beginsWord(at: index) {
                words.append(piece)
                words[words.count - 1].text = TerminalText.singleLine(piece.text)
            } else {
                words[words.count - 1].text += piece.text
                words[words.count - 1].end = piece.end
            }
        }
        return words
    }
}

extension [JSONPath] {
    init(dotted texts: String...) { self = texts.map { JSONPath(dotted: $0) } }

    /// No time or share is larger: JSON cannot express what would overflow.
    private static var largest: Double { 1e12 }

    /// The first number, also one that is written as a text; Google writes seconds as "1.300s".
    func number(in value: JSONValue) -> Double? {
        lazy.compactMap { path -> Double? in
            switch path.values(in: value).first {
            case .number(let number)?: number
            case .string(let text)?: Double(text.hasSuffix("s") ? text.dropLast() : text[...])
            default: nil
            }
        }.first { $0.magnitude <= Self.largest }
    }

    func label(in value: JSONValue) -> String? {
        lazy.compactMap { $0.values(in: value).first?.label }.first { !$0.isEmpty }
    }
}

extension JSONValue {
    /// A text or a whole number, as one short line; nil for anything else.
    var label: String? {
        switch self {
        case .string(let text): TerminalText.shown(text)
        case .number(let number): Int(exactly: number).map(String.init)
        default: nil
        }
    }
}
