// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

enum SubtitleCue {
    /// The times of a line such as `00:00:01,000 --> 00:00:02,500 align:start`, in seconds; nil for
    /// any other line.
    static func times(in line: [UInt8]) -> (start: Double, end: Double)? {
        let words = line.split { $0 == 0x20 || $0 == 0x09 }
        guard words.count > 2, words[1].elementsEqual("-->".utf8),
            let start = seconds(words[0]), let end = seconds(words[2])
        else { return nil }
        return (start, end)
    }

    static func hypothesis(
        _ text: String, _ times: (start: Double, end: Double)
    ) -> Hypothesis {
        var clean = ""
        var speaker: String?
        var rest = text[...]
        while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
            clean += rest[..<open]
            let tag = rest[open...].dropFirst().prefix { $0 != ">" }
            if tag.hasPrefix("v "), speaker == nil {
                speaker = JSONValue.string(String(tag.dropFirst(2))).label
            }
            rest = rest[close...].dropFirst()
        }
        clean += rest
        if clean.utf8.contains(UInt8(ascii: "&")) {
            for (name, character) in [
                ("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&amp;", "&"),
            ] {
                clean = clean.replacing(name, with: character)
            }
        }
        var hypothesis = Hypothesis(text: clean, isFinal: true)
        hypothesis.segments = [
            RecognizedWord(
                text: TerminalText.singleLine(clean), start: times.start, end: times.end,
                speaker: speaker)
        ]
        return hypothesis
    }

    private static func seconds(_ word: ArraySlice<UInt8>) -> Double? {
        let parts = word.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count) else { return nil }
        var total = 0.0
        for part in parts {
            let digits = part.map { $0 == UInt8(ascii: ",") ? UInt8(ascii: ".") : $0 }
            guard !digits.isEmpty, digits.count < 12,
                digits.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
                let number = Double(String(decoding: digits, as: UTF8.self))
            else { return nil }
            total = total * 60 + number
        }
        return total
    }
}
