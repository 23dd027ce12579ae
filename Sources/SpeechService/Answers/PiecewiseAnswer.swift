// SPDX-License-Identifier: Apache-2.0

/// Cuts the bytes of an answer into pieces, and reads what they say.
protocol PieceReader: Sendable {
    /// In bytes between two pieces that say something.
    var limit: Int { get }
    var byteCount: Int { get }
    var isOver: Bool { get }
    var hasHeardEnd: Bool { get }

    /// Takes bytes from `index` on: to the end of the first piece that says something, or all.
    ///
    /// - Returns: nil when all bytes were taken, or the reader is over.
    mutating func take(
        _ bytes: Span<UInt8>, from index: inout Int
    ) throws(AnswerError) -> Hypothesis?

    /// - Returns: what the unfinished piece says, and what all pieces say together.
    mutating func finish() throws(AnswerError) -> [Hypothesis]
}

extension PieceReader {
    var isOver: Bool { false }
    var hasHeardEnd: Bool { false }
}

struct PiecewiseAnswer<Reader: PieceReader>: ResponseDecoder {
    private var reader: Reader
    private var failure: AnswerError?
    private var productiveByteCount = 0

    var hasHeardEnd: Bool { reader.hasHeardEnd }
    var isOver: Bool { failure == nil && reader.isOver }

    init(_ reader: Reader) { self.reader = reader }

    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        var hypotheses: [Hypothesis] = []
        do throws(AnswerError) {
            var index = 0
            while index < bytes.count, !reader.isOver {
                let room = productiveByteCount + reader.limit - reader.byteCount
                guard room > 0 else { throw AnswerError.tooLarge(limit: reader.limit) }
                let part = bytes.extracting(first: min(bytes.count, index + room))
                guard let news = try reader.take(part, from: &index) else { continue }
                productiveByteCount = reader.byteCount
                hypotheses.append(news)
            }
        } catch {
            failure = error
            if hypotheses.isEmpty { throw error }
        }
        return hypotheses
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        do throws(AnswerError) {
            return try reader.finish()
        } catch {
            failure = error
            throw error
        }
    }
}

/// Reads an answer that is the text itself, in UTF-8.
///
/// No bytes at all are not an answer, unless the service is known to say by it that nothing was
/// heard, as white space alone does. Byte-order marks are dropped. Subtitles, which are text too,
/// are read as such where the rule leaves the form open. A web page is refused: captive portals and
/// wrong URLs answer with one and 200.
struct TextReader: PieceReader {
    let limit: Int
    private let rule: AnswerRule
    private var bytes: [UInt8] = []

    init(rule: AnswerRule, limit: Int) {
        self.rule = rule
        self.limit = limit
    }

    var byteCount: Int { bytes.count }

    mutating func take(_ chunk: Span<UInt8>, from index: inout Int) -> Hypothesis? {
        bytes.append(chunk.extracting(droppingFirst: index))
        index = chunk.count
        return nil
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        guard !bytes.isEmpty || rule.empty != .failure else { throw .empty }
        // UTF-16 of plain Latin text is valid UTF-8 full of NULs.
        if let nul = bytes.firstIndex(of: 0) { throw .notText(offset: nul) }
        let text = String(decoding: bytes.withoutByteOrderMark, as: UTF8.self)
        if rule.framing == .automatic, SubtitleReader.begins(text) {
            var cues = PiecewiseAnswer(SubtitleReader(limit: limit))
            return try cues.accumulate(bytes.span) + cues.finish()
        }
        let isMarkup = rule.refusesMarkup && text.drop { $0.isWhitespace }.first == "<"
        if isMarkup || WebPage.isWebPage(text) {
            throw .webPage(title: WebPage.firstLine(of: text))
        }
        return [Hypothesis(text: rule.spoken(text), isFinal: true)]
    }
}

struct JSONReader: PieceReader {
    let limit: Int
    private var bytes: [UInt8] = []
    private var values: AnswerValues

    init(rule: AnswerRule, limit: Int) {
        values = AnswerValues(rule: rule, unmatched: .final, limit: limit)
        self.limit = limit
    }

    var byteCount: Int { bytes.count }

    var hasHeardEnd: Bool { values.hasHeardEnd }

    mutating func take(_ chunk: Span<UInt8>, from index: inout Int) -> Hypothesis? {
        bytes.append(chunk.extracting(droppingFirst: index))
        index = chunk.count
        return nil
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        let first = try values.take(try JSONParser.parse(bytes), madeOf: bytes)
        return [first, try values.finish()].compactMap(\.self)
    }
}
