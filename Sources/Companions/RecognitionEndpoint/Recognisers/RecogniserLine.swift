// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

// The protocol between the endpoint and a recogniser; docs/recogniser.md specifies it.

func jsonLine(of value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Only numbers that are not finite have no form in JSON, and there are none.
    return Array((try? encoder.encode(value)) ?? Data()) + [0x0A]
}

/// The client's hints about a recording, beside its sound.
struct SpeechHints: Codable, Sendable, Equatable {
    /// As in BCP 47, such as `en`.
    var language: String?
    /// Earlier words, or words in the style of the text that is wanted.
    var prompt: String?
    /// Words that are likely to be said.
    var words: [String]?

    init(language: String? = nil, prompt: String? = nil, words: [String]? = nil) {
        (self.language, self.prompt, self.words) = (language, prompt, words)
    }

    /// Reads the query of a request's target; `words` are separated by commas.
    init(query target: String) {
        let query = target.drop { $0 != "?" }.dropFirst()
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = Self.decoded(parts.dropFirst().first ?? "")
            switch parts[0] {
            case "language": language = value
            case "prompt": prompt = value
            case "words": words = value.split(separator: ",").map(String.init)
            default: break
            }
        }
    }

    /// Decodes a value of `application/x-www-form-urlencoded`.
    static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2,
                let code = UInt8(digits, radix: 16)
            {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Takes what these say in the place of what others say.
    func over(_ others: SpeechHints) -> SpeechHints {
        SpeechHints(
            language: language ?? others.language, prompt: prompt ?? others.prompt,
            words: words ?? others.words)
    }
}

/// A line that a recogniser reads.
struct RecogniserCommand: Encodable {
    struct Beginning: Encodable {
        var rate: Int
        var language, prompt: String?
        var words: [String]?

        init(_ hints: SpeechHints) {
            (rate, language, prompt, words) = (16_000, hints.language, hints.prompt, hints.words)
        }
    }

    var begin: Beginning?
    /// So many bytes of samples follow the line.
    var audio: Int?
    var end, cancel: Bool?

    var line: [UInt8] { jsonLine(of: self) }
}

/// A line that a recogniser writes: one of `ready`, `partial`, `final` and `error`, with what
/// belongs to it.
struct RecogniserLine: Decodable {
    struct Ready: Decodable {
        var name: String?
        var languages: [String]?
    }

    /// Its place in the audio is in seconds.
    struct Word: Codable, Sendable, Equatable {
        var word: String
        var start, end: Double
        var probability: Double?
    }

    var ready: Ready?
    var partial: String?
    var time: Double?
    var final: String?
    var words: [Word]?
    var end: Bool?
    var error, hint: String?

    /// - Returns: nil when it is not a line of the protocol.
    init?(parsing line: [UInt8]) {
        // Whatever is wrong with it, the program is at fault.
        guard let parsed = try? JSONDecoder().decode(RecogniserLine.self, from: Data(line)),
            parsed.ready != nil || parsed.partial != nil || parsed.final != nil
                || parsed.error != nil
        else { return nil }
        self = parsed
        (partial, final) = (partial.map(Self.plain), final.map(Self.plain))
        words = words?.map { word in
            var word = word
            word.word = Self.plain(word.word)
            return word
        }
    }

    /// Without what a terminal obeys.
    private static func plain(_ text: String) -> String {
        func isControl(_ scalar: Unicode.Scalar) -> Bool {
            scalar.properties.generalCategory == .control
        }
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return String(
            String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
    }
}
