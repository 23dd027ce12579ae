// SPDX-License-Identifier: Apache-2.0

/// Reads an answer that is the text itself, in UTF-8.
///
/// No bytes at all are no answer, unless the service is known to say by it that nothing was heard, as
/// white space alone does. A byte-order mark is dropped. Subtitles, which are text too, are read as
/// such if they are looked for. A web page is refused: captive portals and wrong URLs answer with one
/// and 200.
struct TextReader: AnswerReader {
    let limit: Int
    private let rule: AnswerRule
    private let findsSubtitles: Bool
    private var bytes: [UInt8] = []

    init(rule: AnswerRule, limit: Int, findsSubtitles: Bool = false) {
        self.rule = rule
        self.limit = limit
        self.findsSubtitles = findsSubtitles
    }

    var byteCount: Int { bytes.count }

    mutating func take(_ chunk: Span<UInt8>, from index: inout Int) -> Hypothesis? {
        bytes.append(chunk.extracting(droppingFirst: index))
        index = chunk.count
        return nil
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        guard !bytes.isEmpty || rule.emptyIsNoSpeech else { throw .empty }
        guard var text = String(validating: bytes, as: UTF8.self) else {
            throw .notText(offset: UTF8Check.firstInvalidOffset(in: bytes) ?? 0)
        }
        // UTF-16 of plain Latin text is valid UTF-8 full of NULs.
        if let nul = bytes.firstIndex(of: 0) { throw .notText(offset: nul) }
        if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
        if findsSubtitles, SubtitleReader.begins(text) {
            var cues = PiecewiseAnswer(SubtitleReader(limit: limit))
            return try cues.accumulate(bytes.span) + cues.finish()
        }
        if WebPage.isWebPage(text) { throw .webPage(title: WebPage.firstLine(of: text)) }
        return [Hypothesis(text: rule.spoken(text), isFinal: true)]
    }
}
