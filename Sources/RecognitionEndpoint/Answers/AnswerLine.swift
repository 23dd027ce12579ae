// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// A line of an answer in JSON, with the members that it has.
struct AnswerLine: Encodable {
    /// A word and its place in the audio, in seconds.
    struct Word: Encodable {
        var word: String
        var start, end, probability: Double
    }

    struct Reason: Encodable {
        var message: String
    }

    struct Load: Encodable {
        var running, maximum: Int
    }

    var type, status, text, message: String?
    var time, duration: Double?
    var words: [Word]?
    var error: Reason?
    var recognitions: Load?

    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Only numbers that are not finite have no form in JSON, and there are none.
        let bytes = (try? encoder.encode(self)) ?? Data()
        // Terminals obey the control characters of C1 and DEL, which JSON allows in a string.
        return String(decoding: bytes, as: UTF8.self).unicodeScalars.reduce(into: "") {
            text, scalar in
            if (0x7F...0x9F).contains(scalar.value) {
                text += "\\u00" + String(scalar.value, radix: 16)
            } else {
                text.unicodeScalars.append(scalar)
            }
        } + "\n"
    }
}
