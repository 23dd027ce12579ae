// SPDX-License-Identifier: Apache-2.0

/// An answer that is one JSON document, read when it is whole.
struct JSONAnswer: ResponseDecoder {
    private var body: BoundedBody
    private var values: AnswerValues
    private var failure: AnswerError?

    /// Creates a decoder for documents of at most `limit` bytes.
    init(rule: AnswerRule, limit: Int) {
        body = BoundedBody(limit: limit)
        values = AnswerValues(rule: rule, unmatched: .final, limit: limit)
    }

    var hasHeardEnd: Bool { values.hasHeardEnd }

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
        do throws(AnswerError) {
            let value = try JSONParser.parse(body.bytes)
            let first = try values.take(value, madeOf: body.bytes)
            return [first, try values.finish()].compactMap { $0 }
        } catch {
            failure = error
            throw error
        }
    }
}
