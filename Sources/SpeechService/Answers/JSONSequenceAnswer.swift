// SPDX-License-Identifier: Apache-2.0

/// An answer that is a sequence of JSON values, each meaning something as soon as it is whole.
///
/// Numbers on their own are skipped: Houndify announces the length of each value by one.
struct JSONSequenceAnswer: ResponseDecoder {
    private let rule: SequenceRule
    private let limit: Int
    private var scanner = JSONScanner()
    private var failure: AnswerError?

    /// The text that becomes a final if nothing comes after it.
    private var provisional: Hypothesis?
    private var hasFinal = false
    private var lastPartial: String?
    /// The beginning of the first value that had no text, and where else it has some.
    private var textlessExcerpt: String?
    private var textPlaces: [String] = []
    private var saysNoSpeech = false

    /// Where in the body the last hypothesis stood, and how many bytes the finals took.
    private var productiveByteCount = 0
    private var finalByteCount = 0

    /// Creates a decoder that keeps at most `limit` bytes of the body.
    init(rule: SequenceRule, limit: Int) {
        self.rule = rule
        self.limit = limit
    }

    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        var hypotheses: [Hypothesis] = []
        for index in bytes.indices {
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
        do {
            return try end()
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func end() throws(AnswerError) -> [Hypothesis] {
        var hypotheses: [Hypothesis] = []
        if let piece = scanner.finish() {
            try consume(piece, isLast: true, into: &hypotheses)
        }
        guard !scanner.isInsideValue else { throw .truncated(byteCount: scanner.byteCount) }
        if var last = provisional {
            last.isFinal = true
            hypotheses.append(last)
            hasFinal = true
        }
        guard !hasFinal else { return hypotheses }
        if let lastPartial {
            throw .noFinal(partial: TerminalText.excerpt(of: lastPartial.utf8))
        }
        guard let textlessExcerpt else { throw .empty }
        if saysNoSpeech { return hypotheses + [Hypothesis(text: "", isFinal: true)] }
        throw .missingText(path: textPathsText, excerpt: textlessExcerpt, places: textPlaces)
    }

    private var textPathsText: String {
        rule.textPaths.map(\.description).joined(separator: ", ")
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
        if case .number = value {
            noteTextless(piece, value)
            return
        }
        let kind = rule.markedKind(of: value)
        switch kind {
        case .ignored: return
        case .failure:
            let message = ServiceMessage.extract(from: value)
            throw .serviceReported(message: message ?? TerminalText.excerpt(of: piece.bytes))
        case .partial, .final, .provisional, .restatement, nil: break
        }
        guard let text = rule.text(of: value) else {
            noteTextless(piece, value)
            return
        }
        let meaning = kind ?? rule.unmatched
        let hypothesis = rule.hypothesis(text: text, isFinal: meaning == .final, in: value)
        if let news = try keep(hypothesis, as: meaning, byteCount: piece.bytes.count) {
            hypotheses.append(news)
        }
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

    /// Notes a hypothesis.
    ///
    /// - Returns: what the caller of the decoder shall hear of it, or nil.
    private mutating func keep(
        _ hypothesis: Hypothesis, as kind: ValueKind, byteCount: Int
    ) throws(AnswerError) -> Hypothesis? {
        switch kind {
        case .final:
            finalByteCount += byteCount
            guard finalByteCount <= limit else { throw .tooLarge(limit: limit) }
            hasFinal = true
            provisional = nil
        case .partial:
            provisional = nil
        case .restatement where hasFinal: return nil
        case .provisional, .restatement:
            provisional = hypothesis
        case .failure, .ignored: return nil
        }
        if !hypothesis.isFinal { lastPartial = hypothesis.text }
        productiveByteCount = scanner.byteCount
        return hypothesis
    }

    private mutating func noteTextless(_ piece: JSONScanner.Piece, _ value: JSONValue) {
        if NoSpeech.isSaid(by: value) { saysNoSpeech = true }
        if textPlaces.isEmpty {
            textPlaces = JSONPath.placesOfText(in: value).map(\.description)
        }
        textlessExcerpt = textlessExcerpt ?? TerminalText.excerpt(of: piece.bytes)
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
