// SPDX-License-Identifier: Apache-2.0

/// Cuts a stream of bytes into JSON values, whatever the chunks it comes in.
///
/// It reads concatenated values, JSON lines, and JSON text sequences (RFC 7464): white space, CRLF
/// and the record separator 0x1E between values are skipped, as are byte-order marks at the start.
/// It looks at brackets and quotes only; whether a value is well-formed is the parser's business.
/// It holds the bytes of one unfinished value; its owner bounds them by `byteCount`.
struct JSONScanner: Sendable {
    struct Piece {
        var bytes: [UInt8]
        var offset: Int
    }

    private enum State {
        case between
        /// A number or literal; ends at the first byte that cannot belong to it.
        case atom
        case string
        case container
    }

    private var state = State.between
    private var depth = 0
    private var (isInString, isEscaped) = (false, false)
    private var pending: [UInt8] = []
    private var pendingOffset = 0
    private var markCount = 0

    private(set) var byteCount = 0

    var isInsideValue: Bool { state == .string || state == .container }

    /// Takes bytes from `index` on: to the end of the first value, or all.
    ///
    /// - Throws: `AnswerError.tooDeep`; `.notJSON` with an empty excerpt, and `index` at the byte,
    ///   for one that begins no value.
    /// - Returns: a value that is complete, or nil. A byte that ends a number or literal and opens
    ///   the next value does both.
    mutating func take(
        _ bytes: Span<UInt8>, from index: inout Int
    ) throws(AnswerError) -> Piece? {
        while index < bytes.count {
            switch state {
            case .between: try open(bytes[index], at: &index)
            case .atom:
                var end = index
                while end < bytes.count, Self.isAtom(bytes[end]) { end += 1 }
                keep(bytes, from: &index, to: end)
                guard index < bytes.count else { return nil }
                let piece = close()
                try open(bytes[index], at: &index)
                return piece
            case .string, .container:
                let (end, isClosed) = try scan(bytes, from: index)
                keep(bytes, from: &index, to: end)
                if isClosed { return close() }
            }
        }
        return nil
    }

    private mutating func keep(_ bytes: Span<UInt8>, from index: inout Int, to end: Int) {
        pending.append(bytes.extracting(index..<end))
        byteCount += end - index
        index = end
    }

    /// - Returns: the end of the bytes that belong to the value, and whether it ends there.
    private mutating func scan(
        _ bytes: Span<UInt8>, from start: Int
    ) throws(AnswerError) -> (end: Int, isClosed: Bool) {
        var (isInString, isEscaped) = (isInString, isEscaped)
        defer { (self.isInString, self.isEscaped) = (isInString, isEscaped) }
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                    if state == .string { return (index, true) }
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                guard depth <= JSONParser.depthLimit else {
                    throw .tooDeep(
                        offset: byteCount + index - 1 - start, limit: JSONParser.depthLimit)
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return (index, true) }
            default: continue
            }
        }
        return (index, false)
    }

    /// - Returns: an unfinished number or literal, or nil.
    mutating func finish() -> Piece? {
        guard case .atom = state else { return nil }
        return close()
    }

    private mutating func open(_ byte: UInt8, at index: inout Int) throws(AnswerError) {
        let offset = byteCount
        if markCount == offset, byte == UTF8Check.byteOrderMark[markCount % 3] {
            markCount += 1
        } else {
            guard markCount % 3 == 0 else {
                throw .notJSON(offset: offset, excerpt: "")
            }
            switch byte {
            case _ where Self.isWhitespace(byte), 0x1E: break
            case UInt8(ascii: "{"), UInt8(ascii: "["): (state, depth) = (.container, 1)
            case UInt8(ascii: "\""): (state, isInString) = (.string, true)
            case _ where Self.isAtom(byte): state = .atom
            default: throw .notJSON(offset: offset, excerpt: "")
            }
            if state != .between {
                pending.append(byte)
                pendingOffset = offset
            }
        }
        index += 1
        byteCount += 1
    }

    private mutating func close() -> Piece {
        state = .between
        let piece = Piece(bytes: pending, offset: pendingOffset)
        pending = []
        return piece
    }

    private static func isAtom(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "+"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// RFC 8259 §2.
    static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }
}

enum UTF8Check {
    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
}

extension [UInt8] {
    /// Some servers put one before a file that has one already.
    var withoutByteOrderMark: ArraySlice<UInt8> {
        var rest = self[...]
        while rest.starts(with: UTF8Check.byteOrderMark) { rest = rest.dropFirst(3) }
        return rest
    }
}
