// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// Reads an answer that is a stream of server-sent events, each meaning something as soon as it is
/// whole.
///
/// The data of an event is a JSON value or a text; `[DONE]` ends the stream. Texts that no selector
/// knows are pieces of the whole.
struct EventReader: PieceReader {
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

    private mutating func value(of event: EventScanner.Event) throws(AnswerError) -> JSONValue? {
        let text = String(decoding: event.data, as: UTF8.self)
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

/// Cuts a stream of bytes into server-sent events (WHATWG HTML §9.2.6).
///
/// Comments, `id` and `retry` are skipped, and so are events without data. An event that the end of
/// a whole body cuts off before its empty line counts: some servers leave that line out.
struct EventScanner: Sendable {
    struct Event: Sendable, Equatable {
        var name: String?
        var data: [UInt8]
        var offset: Int
    }

    private var lines = LineScanner()
    private var name: [UInt8] = []
    private var data: [UInt8]?
    private var offset = 0

    var byteCount: Int { lines.byteCount }

    /// Takes bytes from `index` on: to the end of the first event, or all.
    mutating func take(_ bytes: Span<UInt8>, from index: inout Int) -> Event? {
        while let line = lines.take(bytes, from: &index) {
            if let event = take(line.bytes, at: line.offset) { return event }
        }
        return nil
    }

    /// - Returns: an event without its empty line, or nil.
    mutating func finish() -> Event? {
        if let line = lines.finish() { _ = take(line.bytes, at: line.offset) }
        return dispatch()
    }

    private mutating func take(_ line: [UInt8], at start: Int) -> Event? {
        guard !line.isEmpty else { return dispatch() }
        let field = line.prefix { $0 != UInt8(ascii: ":") }
        var value = line.dropFirst(field.count + 1)
        if value.first == 0x20 { value = value.dropFirst() }
        if field.elementsEqual("data".utf8) {
            if data == nil {
                data = Array(value)
                offset = start + (value.isEmpty ? line.count : value.startIndex)
            } else {
                data?.append(0x0A)
                data?.append(contentsOf: value)
            }
        } else if field.elementsEqual("event".utf8) {
            name = Array(value)
        }
        return nil
    }

    private mutating func dispatch() -> Event? {
        defer { (name, data) = ([], nil) }
        guard let data, !data.isEmpty else { return nil }
        let name = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
        return Event(name: name, data: data, offset: offset)
    }
}
