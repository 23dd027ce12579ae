// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// Reads one JSON document (RFC 8259) that comes from outside and may be hostile.
///
/// Foundation's decoder reads into types, names no byte in its errors, and needs a pass of its own
/// for each bound. On values of unknown type it is 7 to 30 times slower (0.48 s against 0.07 s for
/// 2.9 MB of words with times, on two cores of a virtual machine), which other takes would feel:
/// one loop carries them all. This one stops at 64 levels and at half a million values, and says
/// where. A raw control character in a string is refused, as the RFC demands; a lone surrogate
/// becomes U+FFFD, because services split text between its halves, and so does a byte that is not
/// UTF-8. Numbers that are not finite, as Python and C write them, are null.
struct JSONParser {
    static let depthLimit = 64

    /// The most values in one document.
    ///
    /// It bounds what 8 MiB of `[],[],…` cost in memory. An hour of speech is about 10,000 words
    /// and so, at nine values a word, 90,000 values.
    static let valueLimit = 500_000

    private let bytes: [UInt8]
    private let baseOffset: Int
    private var index = 0
    private var valueCount = 0

    /// Skips a byte-order mark at the start; `baseOffset` is where in the body `bytes` begin, for
    /// errors.
    ///
    /// - Throws: `AnswerError.empty` without any value, `.truncated` when the bytes end inside
    ///   one, `.notJSON`, `.tooDeep` or `.tooManyValues` at the byte in question.
    static func parse(
        _ bytes: [UInt8], baseOffset: Int = 0
    ) throws(AnswerError) -> JSONValue {
        var parser = JSONParser(bytes: bytes, baseOffset: baseOffset)
        parser.index = bytes.withoutByteOrderMark.startIndex
        parser.skipWhitespace()
        guard parser.index < bytes.count else { throw .empty }
        let value = try parser.value(depth: 0)
        parser.skipWhitespace()
        guard parser.index == bytes.count else { throw parser.unexpectedByte() }
        return value
    }

    // MARK: - Values

    private mutating func value(depth: Int) throws(AnswerError) -> JSONValue {
        valueCount += 1
        guard valueCount <= Self.valueLimit else { throw .tooManyValues(limit: Self.valueLimit) }
        switch try peek() {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return skipNotFinite() ? .null : try literal("null", .null)
        default: return skipNotFinite() ? .null : try number()
        }
    }

    private mutating func object(depth: Int) throws(AnswerError) -> JSONValue {
        try enter(depth)
        var members: [JSONMember] = []
        if try closes(with: UInt8(ascii: "}")) { return .object(members) }
        while true {
            guard try peek() == UInt8(ascii: "\"") else { throw unexpectedByte() }
            let name = try string()
            skipWhitespace()
            try expect(UInt8(ascii: ":"))
            skipWhitespace()
            members.append(JSONMember(name: name, value: try value(depth: depth)))
            if try closes(with: UInt8(ascii: "}")) { return .object(members) }
            try expect(UInt8(ascii: ","))
            skipWhitespace()
        }
    }

    private mutating func array(depth: Int) throws(AnswerError) -> JSONValue {
        try enter(depth)
        var elements: [JSONValue] = []
        if try closes(with: UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value(depth: depth))
            if try closes(with: UInt8(ascii: "]")) { return .array(elements) }
            try expect(UInt8(ascii: ","))
            skipWhitespace()
        }
    }

    private mutating func enter(_ depth: Int) throws(AnswerError) {
        guard depth <= Self.depthLimit else {
            throw .tooDeep(offset: baseOffset + index, limit: Self.depthLimit)
        }
        index += 1
    }

    private mutating func closes(with byte: UInt8) throws(AnswerError) -> Bool {
        skipWhitespace()
        guard try peek() == byte else { return false }
        index += 1
        return true
    }

    private mutating func literal(
        _ text: String, _ value: JSONValue
    ) throws(AnswerError) -> JSONValue {
        for byte in text.utf8 { try expect(byte) }
        return value
    }

    // MARK: - Numbers (RFC 8259 §6)

    private mutating func number() throws(AnswerError) -> JSONValue {
        let start = index
        if try peek() == UInt8(ascii: "-") { index += 1 }
        if try peek() == UInt8(ascii: "0") {
            index += 1
        } else {
            try digits()
        }
        if current == UInt8(ascii: ".") {
            index += 1
            try digits()
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            index += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { index += 1 }
            try digits()
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        guard let number = Double(text) else { throw notJSON(at: start) }
        return .number(number)
    }

    /// `NaN`, `-Infinity` and the like, in any case; false at anything else.
    private mutating func skipNotFinite() -> Bool {
        let word = bytes[index...].prefix(10).prefix {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) || $0 == 0x2D
        }
        guard word.count > 2,
            ["nan", "-nan", "inf", "-inf", "infinity", "-infinity"].contains(
                String(decoding: word, as: UTF8.self).lowercased())
        else { return false }
        index += word.count
        return true
    }

    private mutating func digits() throws(AnswerError) {
        guard Self.isDigit(try peek()) else { throw unexpectedByte() }
        while let byte = current, Self.isDigit(byte) { index += 1 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    // MARK: - Strings (RFC 8259 §7)

    private mutating func string() throws(AnswerError) -> String {
        index += 1
        let start = index
        skipPlain()
        guard try peek() == UInt8(ascii: "\"") else { return try escapedString(from: start) }
        defer { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func skipPlain() {
        var end = index
        while end < bytes.count, bytes[end] >= 0x20, bytes[end] != UInt8(ascii: "\""),
            bytes[end] != UInt8(ascii: "\\")
        { end += 1 }
        index = end
    }

    private mutating func escapedString(from start: Int) throws(AnswerError) -> String {
        var unescaped = Array(bytes[start..<index])
        while true {
            let byte = try peek()
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return String(decoding: unescaped, as: UTF8.self)
            case UInt8(ascii: "\\"):
                index += 1
                let scalar = try escape()
                unescaped.append(
                    contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            case 0x00...0x1F: throw unexpectedByte()
            default:
                let begin = index
                skipPlain()
                unescaped.append(contentsOf: bytes[begin..<index])
            }
        }
    }

    private mutating func escape() throws(AnswerError) -> Unicode.Scalar {
        let byte = try peek()
        let scalar: Unicode.Scalar
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): scalar = .init(byte)
        case UInt8(ascii: "b"): scalar = "\u{8}"
        case UInt8(ascii: "f"): scalar = "\u{C}"
        case UInt8(ascii: "n"): scalar = "\n"
        case UInt8(ascii: "r"): scalar = "\r"
        case UInt8(ascii: "t"): scalar = "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw unexpectedByte()
        }
        index += 1
        return scalar
    }

    private mutating func unicodeEscape() throws(AnswerError) -> Unicode.Scalar {
        let unit = try codeUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        let next = index
        guard UTF16.isLeadSurrogate(unit), current == UInt8(ascii: "\\"),
            next + 1 < bytes.count, bytes[next + 1] == UInt8(ascii: "u")
        else { return "\u{FFFD}" }
        index += 1
        let low = try codeUnit()
        guard UTF16.isTrailSurrogate(low) else {
            // The second escape is a character of its own: read it again.
            index = next
            return "\u{FFFD}"
        }
        let value = 0x10000 + (UInt32(unit & 0x3FF) << 10) + UInt32(low & 0x3FF)
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    private mutating func codeUnit() throws(AnswerError) -> UInt16 {
        index += 1
        var unit: UInt16 = 0
        for _ in 0..<4 {
            let scalar = Character(Unicode.Scalar(try peek()))
            guard scalar.isASCII, let digit = scalar.hexDigitValue else { throw unexpectedByte() }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }

    // MARK: - Bytes

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private func peek() throws(AnswerError) -> UInt8 {
        guard index < bytes.count else { throw .truncated(byteCount: baseOffset + bytes.count) }
        return bytes[index]
    }

    private mutating func expect(_ byte: UInt8) throws(AnswerError) {
        guard try peek() == byte else { throw unexpectedByte() }
        index += 1
    }

    private mutating func skipWhitespace() {
        while let byte = current, JSONScanner.isWhitespace(byte) { index += 1 }
    }

    private func unexpectedByte() -> AnswerError { notJSON(at: index) }

    private func notJSON(at position: Int) -> AnswerError {
        let excerpt = TerminalText.excerpt(of: bytes.dropFirst(position).prefix(201))
        return .notJSON(offset: baseOffset + position, excerpt: excerpt)
    }
}
