// SPDX-License-Identifier: Apache-2.0

/// An answer whose form is found out from its media type and its first byte
/// (`AnswerRule.automatic`).
struct AutomaticAnswer: ResponseDecoder {
    private let limit: Int
    /// Nil until a byte decides.
    ///
    /// Mutated in place: a copy would copy the body with each chunk.
    private var decoder: (any ResponseDecoder)?
    /// White space and a byte-order mark, until then.
    private var head: BoundedBody
    private var failure: AnswerError?

    /// Creates a decoder for a body of this type and at most `limit` bytes.
    init(mediaType: MediaType, limit: Int) {
        self.limit = limit
        head = BoundedBody(limit: limit)
        if mediaType.isJSON {
            decoder = JSONSequenceAnswer(rule: .standard, limit: limit)
        } else if mediaType.isBinary || mediaType.essence == "text/event-stream" {
            let shown = TerminalText.cut(TerminalText.sanitized(mediaType.essence))
            failure = .unsupportedMediaType(shown)
        }
    }

    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        if let hypotheses = try decoder?.accumulate(bytes) { return hypotheses }
        do {
            try head.append(bytes)
        } catch {
            failure = error
            throw error
        }
        guard let first = Self.firstSignificantByte(of: head.bytes) else { return [] }
        return try decide(isJSON: first == UInt8(ascii: "{"))
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        let hypotheses = decoder == nil ? try decide(isJSON: false) : []
        return hypotheses + (try decoder?.finish() ?? [])
    }

    private mutating func decide(isJSON: Bool) throws(AnswerError) -> [Hypothesis] {
        let begun = head.bytes
        head = BoundedBody(limit: limit)
        decoder =
            isJSON ? JSONSequenceAnswer(rule: .standard, limit: limit) : TextAnswer(limit: limit)
        return try decoder?.accumulate(begun.span) ?? []
    }

    private static func firstSignificantByte(of bytes: [UInt8]) -> UInt8? {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        // A head that may still become a byte-order mark decides nothing.
        guard bytes.count >= 3 || !mark.starts(with: bytes) else { return nil }
        let text = bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...]
        return text.first { !JSONScanner.isWhitespace($0) }
    }
}
