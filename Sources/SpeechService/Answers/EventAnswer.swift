// SPDX-License-Identifier: Apache-2.0

/// An answer that is a stream of server-sent events, each meaning something as soon as it is whole.
///
/// The data of an event is a JSON value or a text; `[DONE]` ends the stream. Texts that no selector
/// knows are pieces of the whole.
struct EventAnswer: ResponseDecoder {
    private static let end = "[DONE]"

    private let skipped: Set<String>
    private let limit: Int
    private var scanner = EventScanner()
    private var values: AnswerValues
    private var failure: AnswerError?
    private(set) var isOver = false
    /// Where in the body the last hypothesis stood.
    private var productiveByteCount = 0

    /// Creates a decoder that keeps at most `limit` bytes of the body.
    init(rule: AnswerRule, limit: Int) {
        values = AnswerValues(rule: rule, unmatched: .final, limit: limit)
        skipped = rule.values.skipped
        self.limit = limit
    }

    var hasHeardEnd: Bool { values.hasHeardEnd }

    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        var hypotheses: [Hypothesis] = []
        for index in bytes.indices where !isOver {
            do throws(AnswerError) {
                if let event = scanner.take(bytes[index]) {
                    try consume(event, into: &hypotheses)
                }
                guard scanner.byteCount - productiveByteCount <= limit else {
                    throw AnswerError.tooLarge(limit: limit)
                }
            } catch {
                failure = error
                scanner = EventScanner()
                if hypotheses.isEmpty { throw error }
                break
            }
        }
        return hypotheses
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        if let failure { throw failure }
        do throws(AnswerError) {
            var hypotheses: [Hypothesis] = []
            if !isOver, let event = scanner.finish() { try consume(event, into: &hypotheses) }
            if let last = try values.finish() { hypotheses.append(last) }
            return hypotheses
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func consume(
        _ event: EventScanner.Event, into hypotheses: inout [Hypothesis]
    ) throws(AnswerError) {
        guard let value = try value(of: event) else { return }
        let news = try values.take(value, of: event.name, madeOf: event.data)
        isOver = isOver || values.isOver
        guard let news else { return }
        productiveByteCount = scanner.byteCount
        hypotheses.append(news)
    }

    /// What an event says; nil for one that says nothing.
    private mutating func value(of event: EventScanner.Event) throws(AnswerError) -> JSONValue? {
        guard let text = String(validating: event.data, as: UTF8.self) else {
            let place = UTF8Check.firstInvalidOffset(in: event.data) ?? 0
            throw .notText(offset: event.offset + place)
        }
        if text == Self.end { isOver = true }
        if isOver || skipped.contains(text) { return nil }
        do {
            let value = try JSONParser.parse(event.data, baseOffset: event.offset)
            // A number on its own is what was said, as far as one can know.
            if case .number = value { return .string(text) }
            return value
        } catch .truncated, .notJSON, .empty {
            guard event.data.first == UInt8(ascii: "{") else { return .string(text) }
            throw .notJSON(
                offset: event.offset, excerpt: TerminalText.excerpt(of: event.data))
        }
    }
}
