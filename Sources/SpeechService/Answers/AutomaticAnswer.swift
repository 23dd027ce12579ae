// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// An answer whose form is found out from its media type and its first bytes
/// (`AnswerFraming.automatic`).
struct AutomaticAnswer: ResponseDecoder {
    /// A body that begins like this is a stream of events, whatever its type says.
    private static let eventBeginnings = ["data:{", "data: {", "event:"].map { Array($0.utf8) }

    private let rule: AnswerRule
    private let limit: Int
    /// The decoder; nil until a byte decides.
    ///
    /// Mutated in place: a copy would copy the body with each chunk.
    private var decoder: (any ResponseDecoder)?
    /// White space, a byte-order mark and a possible start of events, until a byte decides.
    private var head: [UInt8] = []
    private var failure: AnswerError?

    init(_ rule: AnswerRule, mediaType: MediaType, limit: Int) {
        self.rule = rule
        self.limit = limit
        if let framing = mediaType.framing {
            decoder = rule.decoder(of: framing, limit: limit)
        } else if mediaType.isBinary {
            let shown = TerminalText.cut(TerminalText.sanitized(mediaType.essence))
            failure = .unsupportedMediaType(shown)
        }
    }

    var hasHeardEnd: Bool { decoder?.hasHeardEnd ?? false }
    var isOver: Bool { decoder?.isOver ?? false }

    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        if let hypotheses = try decoder?.accumulate(bytes) { return hypotheses }
        guard bytes.count <= limit - head.count else {
            head = []
            failure = .tooLarge(limit: limit)
            throw .tooLarge(limit: limit)
        }
        head.append(bytes)
        guard let framing = Self.framing(of: head, isWhole: false) else { return [] }
        return try decide(framing)
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        let hypotheses =
            decoder == nil
            ? try decide(Self.framing(of: head, isWhole: true) ?? .text) : []
        return hypotheses + (try decoder?.finish() ?? [])
    }

    private mutating func decide(_ framing: AnswerFraming) throws(AnswerError) -> [Hypothesis] {
        let begun = head
        head = []
        decoder = rule.decoder(of: framing, limit: limit)
        return try decoder?.accumulate(begun.span) ?? []
    }

    private static func framing(of bytes: [UInt8], isWhole: Bool) -> AnswerFraming? {
        // A head that may still become a byte-order mark decides nothing.
        let rest = bytes.withoutByteOrderMark
        guard isWhole || !UTF8Check.byteOrderMark.starts(with: rest) else { return nil }
        let text = rest.drop(while: JSONScanner.isWhitespace)
        guard let first = text.first else { return nil }
        if first == UInt8(ascii: "{") { return .sequence }
        for beginning in eventBeginnings {
            if text.starts(with: beginning) { return .events }
            if !isWhole, beginning.starts(with: text) { return nil }
        }
        return .text
    }
}

extension [UInt8] {
    package mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
