// SPDX-License-Identifier: Apache-2.0

/// An answer that is a sequence of JSON values, each meaning something as soon as it is whole.
///
/// Numbers on their own are skipped: Houndify announces the length of each value by one.
struct JSONSequenceAnswer: ResponseDecoder {
    private let limit: Int
    private var scanner = JSONScanner()
    private var values: AnswerValues
    private var failure: AnswerError?
    /// Where in the body the last hypothesis stood.
    private var productiveByteCount = 0

    /// Creates a decoder that keeps at most `limit` bytes of the body.
    init(rule: AnswerRule, limit: Int) {
        values = AnswerValues(rule: rule, unmatched: .provisional, limit: limit)
        self.limit = limit
    }

    var hasHeardEnd: Bool { values.hasHeardEnd }
    var isOver: Bool { values.isOver }

    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        var hypotheses: [Hypothesis] = []
        for index in bytes.indices where !values.isOver {
            do throws(AnswerError) {
                if let piece = try scanner.take(bytes[index]) {
                    try consume(piece, into: &hypotheses)
                }
                guard scanner.byteCount - productiveByteCount <= limit else {
                    throw AnswerError.tooLarge(limit: limit)
                }
            } catch {
                try fail(Self.withExcerpt(error, of: bytes, at: index), after: hypotheses)
                break
            }
        }
        return hypotheses
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        do throws(AnswerError) {
            var hypotheses: [Hypothesis] = []
            if let piece = scanner.finish() {
                try consume(piece, isLast: true, into: &hypotheses)
            }
            guard !scanner.isInsideValue || values.isOver else {
                throw .truncated(byteCount: scanner.byteCount)
            }
            if let last = try values.finish() { hypotheses.append(last) }
            return hypotheses
        } catch {
            failure = error
            throw error
        }
    }

    /// Lets go of everything and throws, unless hypotheses must be handed out first.
    private mutating func fail(
        _ error: AnswerError, after hypotheses: [Hypothesis]
    ) throws(AnswerError) {
        failure = error
        scanner = JSONScanner()
        if hypotheses.isEmpty { throw error }
    }

    private mutating func consume(
        _ piece: JSONScanner.Piece, isLast: Bool = false, into hypotheses: inout [Hypothesis]
    ) throws(AnswerError) {
        let value = try Self.value(of: piece, isLast: isLast)
        guard let news = try values.take(value, madeOf: piece.bytes) else { return }
        productiveByteCount = scanner.byteCount
        hypotheses.append(news)
    }

    /// The value of a piece, of which the scanner has seen the end.
    private static func value(
        of piece: JSONScanner.Piece, isLast: Bool
    ) throws(AnswerError) -> JSONValue {
        do {
            return try JSONParser.parse(piece.bytes, baseOffset: piece.offset)
        } catch .truncated where !isLast {
            // A word such as "tru" with more behind it was never going to be JSON.
            let excerpt = TerminalText.excerpt(of: piece.bytes)
            throw .notJSON(offset: piece.offset, excerpt: excerpt)
        }
    }

    /// The scanner sees one byte at a time; what follows it in the chunk makes the excerpt.
    private static func withExcerpt(
        _ error: AnswerError, of bytes: Span<UInt8>, at index: Int
    ) -> AnswerError {
        guard case .notJSON(let offset, "") = error else { return error }
        let end = min(bytes.count, index + TerminalText.excerptByteLimit + 1)
        var rest: [UInt8] = []
        for position in index..<end { rest.append(bytes[position]) }
        return .notJSON(offset: offset, excerpt: TerminalText.excerpt(of: rest))
    }
}
