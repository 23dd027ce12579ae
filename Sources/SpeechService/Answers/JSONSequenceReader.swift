// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// Reads an answer that is a sequence of JSON values, each meaning something as soon as it is whole.
///
/// Numbers on their own are skipped: some services announce the length of each value by one.
struct JSONSequenceReader: PieceReader {
    let limit: Int
    private var scanner = JSONScanner()
    private var values: AnswerValues

    init(rule: AnswerRule, limit: Int) {
        values = AnswerValues(rule: rule, unmatched: .provisional, limit: limit)
        self.limit = limit
    }

    var byteCount: Int { scanner.byteCount }

    var isOver: Bool { values.isOver }

    var hasHeardEnd: Bool { values.hasHeardEnd }

    mutating func take(
        _ bytes: Span<UInt8>, from index: inout Int
    ) throws(AnswerError) -> Hypothesis? {
        do throws(AnswerError) {
            while !isOver, let piece = try scanner.take(bytes, from: &index) {
                let value = try Self.value(of: piece, isLast: false)
                if let news = try values.take(value, madeOf: piece.bytes) { return news }
            }
            return nil
        } catch {
            throw Self.withExcerpt(error, of: bytes, at: index)
        }
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        var last: Hypothesis?
        if let piece = scanner.finish() {
            last = try values.take(
                try Self.value(of: piece, isLast: true), madeOf: piece.bytes)
        }
        guard !scanner.isInsideValue || values.isOver else {
            throw .truncated(byteCount: scanner.byteCount)
        }
        return [last, try values.finish()].compactMap(\.self)
    }

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

    /// The scanner keeps no byte that begins no value; what follows in the chunk makes the excerpt.
    private static func withExcerpt(
        _ error: AnswerError, of bytes: Span<UInt8>, at index: Int
    ) -> AnswerError {
        guard case .notJSON(let offset, "") = error else { return error }
        let end = min(bytes.count, index + TerminalText.excerptByteLimit + 1)
        var rest: [UInt8] = []
        rest.append(bytes.extracting(min(index, end)..<end))
        return .notJSON(offset: offset, excerpt: TerminalText.excerpt(of: rest))
    }
}
