// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// Reads an answer that is a file of subtitles, SRT or WebVTT (W3C); each cue is a final.
///
/// Tags and notes are left out, entities are read, and a voice (`<v Ann>`) is the speaker. A cue whose
/// times cannot be read has its words without them, and so has what follows an empty line in SRT. Nothing
/// but white space says that nothing was heard.
struct SubtitleReader: PieceReader {
    private static let arrow = Array("-->".utf8)

    let limit: Int
    private var lines = LineScanner()
    private var block: [[UInt8]] = []
    private var hasBegun = false
    private var isWebVTT = false
    private var hasCue = false
    private var keptByteCount = 0
    private var head: [UInt8] = []

    init(limit: Int) { self.limit = limit }

    static func begins(_ text: String) -> Bool {
        if text.hasPrefix("WEBVTT") { return true }
        let lines = text.utf8.prefix(200).split(maxSplits: 2) { $0 == 0x0A || $0 == 0x0D }
        guard lines.count > 1, !lines[0].isEmpty, lines[0].count < 8 else { return false }
        return lines[0].allSatisfy { (0x30...0x39).contains($0) }
            && SubtitleCue.times(in: Array(lines[1])) != nil
    }

    var byteCount: Int { lines.byteCount }

    mutating func take(
        _ bytes: Span<UInt8>, from index: inout Int
    ) throws(AnswerError) -> Hypothesis? {
        let room = TerminalText.excerptByteLimit + 1 - head.count
        head.append(bytes.extracting(droppingFirst: index).extracting(first: max(0, room)))
        while let line = lines.take(bytes, from: &index) {
            if let news = try news(of: line.bytes) { return news }
        }
        return nil
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        var hypotheses: [Hypothesis?] = []
        if let line = lines.finish() { hypotheses.append(try news(of: line.bytes)) }
        hypotheses.append(try news(of: []))
        guard !hasCue else { return hypotheses.compactMap(\.self) }
        guard lines.byteCount > 0 else { throw .empty }
        let isBlank = head.allSatisfy(JSONScanner.isWhitespace)
        guard isWebVTT || isBlank else {
            throw .missingText(path: "-->", excerpt: TerminalText.excerpt(of: head))
        }
        return [Hypothesis(text: "", isFinal: true)]
    }

    private mutating func news(of line: [UInt8]) throws(AnswerError) -> Hypothesis? {
        guard line.isEmpty else {
            if !hasBegun { isWebVTT = line.starts(with: "WEBVTT".utf8) }
            hasBegun = true
            // A number or a name may stand in front of the times.
            let isTimed = !block.isEmpty && block[0].contains(Self.arrow)
            if !isTimed, line.contains(Self.arrow) { block = [] }
            block.append(line)
            return nil
        }
        defer { block = [] }
        guard let first = block.first else { return nil }
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        let isCue = first.contains(Self.arrow) && first.first.map(isDigit) ?? false
        let goesOn = hasCue && !isWebVTT && !first.allSatisfy(isDigit)
        let lines = isCue ? block.dropFirst() : goesOn ? block[...] : []
        let times = isCue ? SubtitleCue.times(in: first) : nil
        guard times != nil || !lines.isEmpty else { return nil }
        hasCue = true
        keptByteCount += block.reduce(0) { $0 + $1.count }
        guard keptByteCount <= limit else { throw .tooLarge(limit: limit) }
        let text = lines.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
        return SubtitleCue.hypothesis(text, times)
    }
}

enum SubtitleCue {
    /// The times of a line such as `00:00:01,000 --> 00:00:02,500 align:start`, in seconds; nil for
    /// any other line.
    static func times(in line: [UInt8]) -> (start: Double, end: Double)? {
        guard let arrow = line.firstRange(of: Array("-->".utf8)) else { return nil }
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let before = line[..<arrow.lowerBound].split(whereSeparator: isSpace)
        guard before.count == 1, let start = seconds(before[0]),
            let end = line[arrow.upperBound...].split(whereSeparator: isSpace).first
                .flatMap({ seconds($0) })
        else { return nil }
        return (start, end)
    }

    /// A tag of WebVTT (§6.4) or SRT, as players know them; all else between `<` and `>` was said.
    private static var tag: Regex<(Substring, name: Substring?)> {
        /<(?:\/?(?:[bius]|c|ruby|rt)(?:\.[^<>\s]*)?|\/?(?:v|lang)(?:\.[^<>\s]*)?(?:\s(?<name>[^<>]*))?|\/?font(?:\s[^<>]*)?|br ?\/?|[\d:]+\.\d+)>/
            .ignoresCase()
    }

    static func hypothesis(
        _ text: String, _ times: (start: Double, end: Double)?
    ) -> Hypothesis {
        var speaker: String?
        var spoken = text
        if text.contains("<") {
            spoken.replace(tag) { match in
                if match.0.dropFirst().first?.lowercased() == "v", let name = match.name {
                    speaker = speaker ?? JSONValue.string(XMLElement.plain(name)).label
                }
                return ""
            }
        }
        let clean = XMLElement.plain(spoken[...])
        var hypothesis = Hypothesis(text: clean, isFinal: true)
        hypothesis.segments = [
            RecognizedWord(
                text: TerminalText.singleLine(clean), start: times?.start, end: times?.end,
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
