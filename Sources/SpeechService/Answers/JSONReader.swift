// SPDX-License-Identifier: Apache-2.0

/// Reads an answer that is one JSON document, read when it is whole.
struct JSONReader: AnswerReader {
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
