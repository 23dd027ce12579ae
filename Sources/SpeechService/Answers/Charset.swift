// SPDX-License-Identifier: Apache-2.0

/// A character set other than UTF-8 that the type of an answer names (RFC 9110 §8.3.2).
enum Charset: Sendable {
    /// Windows-1252, as which ISO 8859-1 is read everywhere (WHATWG Encoding §4.2).
    case latin
    /// UTF-16, whose byte order is nil until the first bytes tell it.
    case utf16(isLittle: Bool?)

    /// From 0x80 to 0x9F; the characters behind have their numbers in Unicode.
    private static let letters = Array(
        "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)

    /// The charset that a type names; nil for none, and for an unknown one: UTF-8 is read then.
    init?(_ contentType: String?) {
        let parts = (contentType ?? "").lowercased().split(separator: "charset=", maxSplits: 1)
        switch parts.last?.filter({ $0 != "\"" && $0 != " " }).prefix(while: { $0 != ";" }) {
        case "iso-8859-1", "latin1", "windows-1252", "cp1252": self = .latin
        case "utf-16": self = .utf16(isLittle: nil)
        case "utf-16le": self = .utf16(isLittle: true)
        case "utf-16be": self = .utf16(isLittle: false)
        default: return nil
        }
    }

    /// A whole body in UTF-8.
    static func utf8(_ body: [UInt8], of contentType: String?) -> [UInt8] {
        guard var charset = Charset(contentType) else { return body }
        var rest = body
        return charset.takeUTF8(from: &rest, isLast: true)
    }

    /// Leaves the beginning of a character, which is replaced if it is the last.
    mutating func takeUTF8(from bytes: inout [UInt8], isLast: Bool = false) -> [UInt8] {
        let whole = takeWhole(from: &bytes)
        return isLast && !bytes.isEmpty ? whole + UTF8.encodedReplacementCharacter : whole
    }

    private mutating func takeWhole(from bytes: inout [UInt8]) -> [UInt8] {
        switch self {
        case .latin:
            defer { bytes = [] }
            return bytes.flatMap { byte in
                let isLetter = (0x80..<0xA0).contains(byte)
                return String(isLetter ? Self.letters[Int(byte) - 0x80] : .init(byte)).utf8
            }
        case .utf16(let known):
            guard bytes.count > 1 else { return [] }
            // Without a mark, letters and brackets have their zero in front or behind.
            let isLittle = known ?? (bytes[0] != 0 && bytes[0] != 0xFE)
            self = .utf16(isLittle: isLittle)
            var units = stride(from: 1, to: bytes.count, by: 2).map { place in
                let (high, low) = isLittle ? (place, place - 1) : (place - 1, place)
                return UInt16(bytes[high]) << 8 | UInt16(bytes[low])
            }
            if let last = units.last, UTF16.isLeadSurrogate(last) { units.removeLast() }
            bytes.removeFirst(units.count * 2)
            return Array(String(decoding: units, as: UTF16.self).utf8)
        }
    }
}

/// An answer in another character set than UTF-8.
struct TranscodedAnswer: ResponseDecoder {
    var decoder: any ResponseDecoder
    var charset: Charset
    private var rest: [UInt8] = []

    init(_ decoder: any ResponseDecoder, _ charset: Charset) {
        (self.decoder, self.charset) = (decoder, charset)
    }

    var hasHeardEnd: Bool { decoder.hasHeardEnd }
    var isOver: Bool { decoder.isOver }

    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] {
        rest.append(bytes)
        return try decoder.accumulate(charset.takeUTF8(from: &rest).span)
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        try decoder.accumulate(charset.takeUTF8(from: &rest, isLast: true).span) + decoder.finish()
    }
}
