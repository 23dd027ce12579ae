// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// A transcript with times, as the subtitles of a film; pure.
package enum SubtitleText {
    package struct Cue: Equatable, Sendable {
        var start, end: Double
        /// The text in one line, harmless to a terminal.
        var text: String
        var speaker: String?
    }

    /// Two lines of 42 characters, which are read in 6 s, as broadcasters have it.
    private static let characterLimit = 84
    private static let secondLimit = 6.0
    /// In seconds; a longer pause ends a cue.
    private static let pause = 1.0

    /// The segments, or the words in groups; none without times.
    ///
    /// Each ends with the recording at the latest, where its length is known, in seconds.
    package static func cues(
        segments: [RecognizedWord], words: [RecognizedWord], within end: Double? = nil
    ) -> [Cue] {
        let cues = cues(of: segments, within: end ?? .infinity)
        return cues.isEmpty ? grouped(Self.cues(of: words, within: end ?? .infinity)) : cues
    }

    /// How many words of a text are missing from its cues: 0 where these have as many, or as many letters.
    package static func missingWordCount(of text: String, in cues: [Cue]) -> Int {
        func isSpoken(_ sign: Character) -> Bool { sign.isLetter || sign.isNumber }
        let texts = [text, cues.map(\.text).joined(separator: " ")]
        let letters = texts.map { $0.count(where: isSpoken) }
        let words = texts.map { text in
            text.split(whereSeparator: \.isWhitespace).count { $0.contains(where: isSpoken) }
        }
        return letters[0] > letters[1] ? max(0, words[0] - words[1]) : 0
    }

    private static func cues(of pieces: [RecognizedWord], within limit: Double) -> [Cue] {
        pieces.compactMap { piece in
            let text = TerminalText.singleLine(TerminalText.sanitized(piece.text))
            guard let start = piece.start, let end = piece.end, start >= 0, end >= start,
                end < 1e6, !text.isEmpty
            else { return nil }
            let speaker = piece.speaker.map { TerminalText.singleLine(TerminalText.sanitized($0)) }
            return Cue(
                start: min(start, limit), end: min(end, limit), text: text, speaker: speaker)
        }
    }

    private static func grouped(_ words: [Cue]) -> [Cue] {
        var cues: [Cue] = []
        for word in words {
            guard var last = cues.last, last.speaker == word.speaker,
                word.start - last.end < pause, word.end - last.start <= secondLimit,
                last.text.count + 1 + word.text.count <= characterLimit
            else {
                cues.append(word)
                continue
            }
            last.text += " " + word.text
            last.end = max(last.end, word.end)
            cues[cues.count - 1] = last
        }
        return cues
    }

    package static func srt(_ cues: [Cue]) -> String {
        cues.enumerated().map { index, cue in
            // An arrow would be taken for times.
            let text = (cue.speaker.map { "\($0): " } ?? "") + cue.text
            return "\(index + 1)\n\(clock(cue.start, ",")) --> \(clock(cue.end, ","))\n"
                + text.replacing("-->", with: "->") + "\n"
        }.joined(separator: "\n")
    }

    package static func vtt(_ cues: [Cue]) -> String {
        "WEBVTT\n"
            + cues.map { cue in
                let voice = cue.speaker.map { "<v \(XMLElement.escaped($0))>" } ?? ""
                return "\n\(clock(cue.start, ".")) --> \(clock(cue.end, "."))\n"
                    + voice + XMLElement.escaped(cue.text) + "\n"
            }.joined()
    }

    /// Such as `00:01:02,500`.
    private static func clock(_ seconds: Double, _ mark: String) -> String {
        let all = Int((seconds * 1000).rounded())
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(digits(all / 3_600_000, 2)):\(digits(all / 60_000 % 60, 2)):"
            + "\(digits(all / 1000 % 60, 2))\(mark)\(digits(all % 1000, 3))"
    }
}
