// SPDX-License-Identifier: Apache-2.0

internal import CZlib

/// An answer that is in the response's head; the body says nothing.
///
/// A decoded text that is one JSON string is the content of that string: Amazon Lex V2 writes it so.
struct HeaderAnswer: ResponseDecoder {
    private let result: Result<String, AnswerError>

    init(_ result: Result<String, AnswerError>) { self.result = result }

    /// Reads the first field of `places` that is there, of at most `limit` bytes.
    init(_ places: [HeaderTranscript], in head: AnswerHead, limit: Int) {
        result = Result { () throws(AnswerError) in
            for place in places {
                guard let field = head.header(place.name) else { continue }
                return try Self.text(of: field, place.coding, limit: limit)
            }
            let names = places.map(\.name).joined(separator: " or ")
            throw .undecodable(reason: "missing: there is no field \(names)")
        }
    }

    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] { [] }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        [Hypothesis(text: try result.get(), isFinal: true)]
    }

    private static func text(
        of field: String, _ coding: [HeaderTranscript.Coding], limit: Int
    ) throws(AnswerError) -> String {
        var bytes = Array(field.utf8)
        for step in coding {
            switch step {
            case .base64: bytes = try base64(bytes)
            case .gzip: bytes = try Inflation.inflate(bytes, limit: limit)
            }
        }
        if let nul = bytes.firstIndex(of: 0) { throw .notText(offset: nul) }
        let text = String(decoding: bytes, as: UTF8.self)
        // A value that is not a JSON string is the text itself.
        if bytes.first == UInt8(ascii: "\""), let value = try? JSONParser.parse(bytes) {
            return value.string ?? text
        }
        return text
    }

    private static func base64(_ text: [UInt8]) throws(AnswerError) -> [UInt8] {
        var decoded: [UInt8] = []
        var (bits, count) = (UInt32(0), 0)
        for byte in text where byte != UInt8(ascii: "=") && !JSONScanner.isWhitespace(byte) {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = byte - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"), UInt8(ascii: "-"): digit = 62
            case UInt8(ascii: "/"), UInt8(ascii: "_"): digit = 63
            default: throw .undecodable(reason: "not base64")
            }
            bits = bits << 6 | UInt32(digit)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            decoded.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return decoded
    }
}

struct HeaderTranscript: Sendable, Hashable {
    enum Coding: String, Sendable, Hashable, CaseIterable {
        /// Base64 (RFC 4648 §4 and §5), with padding or without.
        case base64
        /// gzip or zlib (RFC 1952, RFC 1950).
        case gzip
    }

    var name: String
    /// The last step first.
    var coding: [Coding] = []
}

enum Inflation {
    /// Decompresses one stream of gzip or zlib (RFC 1952, RFC 1950).
    ///
    /// - Throws: `AnswerError.tooLarge` when more than `limit` bytes come out, which are never held;
    ///   `.undecodable` when it is not such a stream, or not all of one.
    static func inflate(_ bytes: [UInt8], limit: Int) throws(AnswerError) -> [UInt8] {
        var inflated: [UInt8] = []
        var room = 16 << 10
        while true {
            var count = min(room, limit + 1)
            var isWhole = false
            let isRead = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) {
                output in
                let result = unsafe bytes.withUnsafeBufferPointer { input in
                    unsafe utter_inflate(
                        input.baseAddress, input.count, output.baseAddress, &count, &isWhole)
                }
                if result { unsafe inflated = Array(output[..<count]) }
                return result
            }
            guard isRead else { throw .undecodable(reason: "not compressed by gzip") }
            if isWhole { break }
            guard count == min(room, limit + 1) else {
                throw .undecodable(reason: "cut off in the middle")
            }
            guard count <= limit else { throw .tooLarge(limit: limit) }
            room *= 4
        }
        guard inflated.count <= limit else { throw .tooLarge(limit: limit) }
        return inflated
    }
}

struct RefusedAnswer: ResponseDecoder {
    private static let limit = 64 << 10

    private let rule: AnswerRule
    private let code: String
    private let head: AnswerHead
    private var body: [UInt8] = []

    /// `code` is empty when the field is missing.
    init(rule: AnswerRule, code: String, head: AnswerHead) {
        self.rule = rule
        self.code = code
        self.head = head
    }

    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis] {
        body.append(bytes.extracting(first: min(bytes.count, Self.limit - body.count)))
        return []
    }

    mutating func finish() throws(AnswerError) -> [Hypothesis] {
        let words =
            rule.errors.message(in: head)
            ?? ServiceMessage.extract(from: body, contentType: head.mediaType, at: rule.errors)
        throw .serviceReported(
            message: words ?? "it does not say that it has succeeded",
            code: JSONValue.string(code).label.flatMap { $0.isEmpty ? nil : $0 })
    }
}
