// SPDX-License-Identifier: Apache-2.0

/// Reads the bytes of an answer, which complete pieces that say something.
protocol AnswerReader: Sendable {
    /// The most bytes between two pieces that say something.
    var limit: Int { get }
    /// Bytes taken so far.
    var byteCount: Int { get }
    /// Whether no later byte matters.
    var isOver: Bool { get }
    /// Whether the service has said that it has heard the end of the speech.
    var hasHeardEnd: Bool { get }

    /// Takes bytes from `index` on: to the end of the first piece that says something, or all.
    ///
    /// - Returns: what that piece says; nil when all bytes were taken, or the reader is over.
    mutating func take(
        _ bytes: Span<UInt8>, from index: inout Int
    ) throws(AnswerError) -> Hypothesis?

    /// Ends the body.
    ///
    /// - Returns: what is said by the piece that nothing has ended, and by all of them.
    mutating func finish() throws(AnswerError) -> [Hypothesis]
}

extension AnswerReader {
    var isOver: Bool { false }
    var hasHeardEnd: Bool { false }
}

/// An answer that is read piece by piece.
///
/// What was said before a failure is handed out first.
struct PiecewiseAnswer<Reader: AnswerReader>: ResponseDecoder {
    private var reader: Reader
    private var failure: AnswerError?
    /// Where in the body the last piece ended that said something.
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
