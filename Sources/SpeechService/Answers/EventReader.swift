// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// Reads an answer that is a stream of server-sent events, each meaning something as soon as it is
/// whole.
///
/// The data of an event is a JSON value or a text; `[DONE]` ends the stream. Texts that no selector
/// knows are pieces of the whole.
struct EventReader: AnswerReader {
    private static let end = "[DONE]"

    let limit: Int
    private let skipped: Set<String>
    private var scanner = EventScanner()
    private var values: AnswerValues
    private(set) var isOver = false

    init(rule: AnswerRule, limit: Int) {
        values = AnswerValues(rule: rule, unmatched: .final, limit: limit)
        self.limit = limit
        skipped = rule.values.skipped
    }

    var byteCount: Int { scanner.byteCount }

    var hasHeardEnd: Bool { values.hasHeardEnd }

    mutating func take(
        _ bytes: Span<UInt8>, from index: inout Int
    ) throws(AnswerError) -> Hypothesis? {
        while !isOver, let event = scanner.take(bytes, from: &index) {
            if let news = try news(of: event) { return news }
        }
        return nil
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        var last: Hypothesis?
        if !isOver, let event = scanner.finish() { last = try news(of: event) }
        return [last, try values.finish()].compactMap(\.self)
    }

    private mutating func news(
        of event: EventScanner.Event
    ) throws(AnswerError) -> Hypothesis? {
        guard let value = try value(of: event) else { return nil }
        defer { isOver = isOver || values.isOver }
        return try values.take(value, of: event.name, madeOf: event.data)
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
