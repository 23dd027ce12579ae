// SPDX-License-Identifier: Apache-2.0

/// Cuts a stream of bytes into JSON values, whatever the chunks it comes in.
///
/// It reads concatenated values, JSON lines, and JSON text sequences (RFC 7464): white space, CRLF
/// and the record separator 0x1E between values are skipped, as is a byte-order mark at the start.
/// It looks at brackets and quotes only; whether a value is well-formed is the parser's business.
/// It holds the bytes of one unfinished value; its owner bounds `pendingByteCount`.
struct JSONScanner: Sendable {
    /// A value's bytes and where in the stream they begin.
    struct Piece: Sendable, Equatable {
        var bytes: [UInt8]
        var offset: Int
    }

    private enum State: Sendable {
        case between
        /// A number or literal, which ends at the first byte that cannot belong to it.
        case atom
        case string(isEscaped: Bool)
        case container
        case stringInContainer(isEscaped: Bool)
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private var state = State.between
    private var depth = 0
    private var pending: [UInt8] = []
    private var pendingOffset = 0
    /// Bytes of the byte-order mark seen.
    private var markCount = 0

    /// Bytes seen so far.
    private(set) var byteCount = 0

    /// Bytes of the value that is being read.
    var pendingByteCount: Int { pending.count }

    /// Whether the stream would end inside a string, an array or an object.
    var isInsideValue: Bool {
        switch state {
        case .between, .atom: false
        case .string, .container, .stringInContainer: true
        }
    }

    /// Takes one byte.
    ///
    /// - Throws: `AnswerError.tooDeep`; `.notJSON` with an empty excerpt for a byte that begins no
    ///   value.
    /// - Returns: a value that this byte completes, or nil. A byte that ends a number or literal
    ///   and opens the next value does both.
    mutating func take(_ byte: UInt8) throws(AnswerError) -> Piece? {
        defer { byteCount += 1 }
        switch state {
        case .between:
            try open(byte)
            return nil
        case .atom:
            guard !Self.isAtom(byte) else {
                pending.append(byte)
                return nil
            }
            let piece = close()
            try open(byte)
            return piece
        case .string(let isEscaped):
            pending.append(byte)
            guard let next = Self.afterString(byte, isEscaped) else { return close() }
            state = .string(isEscaped: next)
            return nil
        case .stringInContainer(let isEscaped):
            pending.append(byte)
            state =
                Self.afterString(byte, isEscaped).map { .stringInContainer(isEscaped: $0) }
                ?? .container
            return nil
        case .container:
            pending.append(byte)
            return try step(byte)
        }
    }

    /// Ends the stream.
    ///
    /// - Returns: the number or literal that nothing had ended yet, or nil.
    mutating func finish() -> Piece? {
        guard case .atom = state else { return nil }
        return close()
    }

    private mutating func open(_ byte: UInt8) throws(AnswerError) {
        if markCount == byteCount, markCount < 3, byte == Self.byteOrderMark[markCount] {
            markCount += 1
            return
        }
        guard markCount == 0 || markCount == 3 else {
            throw .notJSON(offset: byteCount, excerpt: "")
        }
        switch byte {
        case _ where Self.isWhitespace(byte), 0x1E: return
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            state = .container
            depth = 1
        case UInt8(ascii: "\""): state = .string(isEscaped: false)
        case _ where Self.isAtom(byte): state = .atom
        default: throw .notJSON(offset: byteCount, excerpt: "")
        }
        pending.append(byte)
        pendingOffset = byteCount
    }

    private mutating func step(_ byte: UInt8) throws(AnswerError) -> Piece? {
        switch byte {
        case UInt8(ascii: "\""): state = .stringInContainer(isEscaped: false)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
            guard depth <= JSONParser.depthLimit else {
                throw .tooDeep(offset: byteCount, limit: JSONParser.depthLimit)
            }
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            if depth == 0 { return close() }
        default: return nil
        }
        return nil
    }

    private mutating func close() -> Piece {
        state = .between
        let piece = Piece(bytes: pending, offset: pendingOffset)
        pending = []
        return piece
    }

    /// The escape state after a byte of a string; nil when the byte ends it.
    private static func afterString(_ byte: UInt8, _ isEscaped: Bool) -> Bool? {
        if isEscaped { return false }
        if byte == UInt8(ascii: "\"") { return nil }
        return byte == UInt8(ascii: "\\")
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

    /// Whether the byte is white space between tokens (RFC 8259 §2).
    static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }
}
