// SPDX-License-Identifier: Apache-2.0

/// An answer that is the text itself, in UTF-8.
///
/// No bytes at all are no answer, unless the service is known to say by it that nothing was heard, as
/// white space alone does. A byte-order mark is dropped. Subtitles, which are text too, are read as
/// such if they are looked for. A web page is refused: captive portals and wrong URLs answer with one
/// and 200.
struct TextAnswer: ResponseDecoder {
    private let findsSubtitles: Bool
    private let emptyIsNoSpeech: Bool
    private var body: BoundedBody
    private var failure: AnswerError?

    /// Creates a decoder for bodies of at most `limit` bytes.
    init(limit: Int, findsSubtitles: Bool = false, emptyIsNoSpeech: Bool = false) {
        self.findsSubtitles = findsSubtitles
        self.emptyIsNoSpeech = emptyIsNoSpeech
        body = BoundedBody(limit: limit)
    }

    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        do {
            try body.append(bytes)
        } catch {
            failure = error
            throw error
        }
        return []
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        guard !body.bytes.isEmpty || emptyIsNoSpeech else { throw .empty }
        guard var text = String(validating: body.bytes, as: UTF8.self) else {
            throw .notText(offset: UTF8Check.firstInvalidOffset(in: body.bytes) ?? 0)
        }
        // UTF-16 of plain Latin text is valid UTF-8 full of NULs.
        if let nul = body.bytes.firstIndex(of: 0) { throw .notText(offset: nul) }
        if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
        if findsSubtitles, SubtitleAnswer.begins(text) {
            var cues = SubtitleAnswer(limit: body.bytes.count)
            return try cues.accumulate(body.bytes.span) + cues.finish()
        }
        if WebPage.isWebPage(text) { throw .webPage(title: WebPage.firstLine(of: text)) }
        return [Hypothesis(text: text, isFinal: true)]
    }
}
