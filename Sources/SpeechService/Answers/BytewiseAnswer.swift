// SPDX-License-Identifier: Apache-2.0

/// Reads the bytes of an answer, each of which may complete a piece that says something.
protocol AnswerReader: Sendable {
    /// The most bytes between two pieces that say something.
    var limit: Int { get }
    /// Bytes taken so far.
    var byteCount: Int { get }
    /// Whether no later byte matters.
    var isOver: Bool { get }
    /// Whether the service has said that it has heard the end of the speech.
    var hasHeardEnd: Bool { get }

    /// Takes the byte at `index` of a chunk.
    ///
    /// - Returns: what the piece says that the byte completes; mostly nil.
    mutating func take(_ bytes: Span<UInt8>, at index: Int) throws(AnswerError) -> Hypothesis?

    /// Ends the body.
    ///
    /// - Returns: what is said by the piece that nothing has ended, and by all of them.
    mutating func finish() throws(AnswerError) -> [Hypothesis]
}

extension AnswerReader {
    var isOver: Bool { false }
    var hasHeardEnd: Bool { false }
}

/// An answer that is read byte by byte.
///
/// What was said before a failure is handed out first.
struct BytewiseAnswer<Reader: AnswerReader>: ResponseDecoder {
    /// Gone after a failure, with all that it holds.
    private var reader: Reader?
    private var failure: AnswerError?
    /// Where in the body the last piece ended that said something.
    private var productiveByteCount = 0
    private(set) var hasHeardEnd = false

    var isOver: Bool { reader?.isOver ?? false }

    /// Creates a decoder of what `reader` reads.
    init(_ reader: Reader) { self.reader = reader }

    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        var hypotheses: [Hypothesis] = []
        do throws(AnswerError) {
            for index in bytes.indices where reader?.isOver == false {
                if let news = try take(bytes, at: index) { hypotheses.append(news) }
            }
            noteEnd()
        } catch {
            fail(error)
            if hypotheses.isEmpty { throw error }
        }
        return hypotheses
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        do throws(AnswerError) {
            let hypotheses = try reader?.finish() ?? []
            noteEnd()
            return hypotheses
        } catch {
            fail(error)
            throw error
        }
    }

    private mutating func take(
        _ bytes: Span<UInt8>, at index: Int
    ) throws(AnswerError) -> Hypothesis? {
        let news = try reader?.take(bytes, at: index)
        guard let count = reader?.byteCount, let limit = reader?.limit else { return nil }
        if news != nil { productiveByteCount = count }
        guard count - productiveByteCount <= limit else { throw .tooLarge(limit: limit) }
        return news
    }

    private mutating func noteEnd() { hasHeardEnd = reader?.hasHeardEnd ?? hasHeardEnd }

    private mutating func fail(_ error: AnswerError) {
        noteEnd()
        (reader, failure) = (nil, error)
    }
}
