// SPDX-License-Identifier: Apache-2.0

/// Cuts a stream of bytes into server-sent events (WHATWG HTML §9.2.6).
///
/// Comments, `id` and `retry` are skipped, and so are events without data. An event that the end of
/// a whole body cuts off before its empty line counts: some servers leave that line out.
struct EventScanner: Sendable {
    struct Event: Sendable, Equatable {
        /// What its `event` field says; nil without one.
        var name: String?
        var data: [UInt8]
        /// Where in the stream the first of these begins.
        var offset: Int
    }

    private var lines = LineScanner()
    private var name: [UInt8] = []
    private var data: [UInt8]?
    private var offset = 0

    /// Bytes seen so far.
    var byteCount: Int { lines.byteCount }

    /// Takes bytes from `index` on: to the end of the first event, or all.
    mutating func take(_ bytes: Span<UInt8>, from index: inout Int) -> Event? {
        while let line = lines.take(bytes, from: &index) {
            if let event = take(line.bytes, at: line.offset) { return event }
        }
        return nil
    }

    /// Ends the stream.
    ///
    /// - Returns: the event that no empty line has ended, or nil.
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
