// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// Takes secrets out of what is written down or shown, however they are spelled there.
///
/// Services repeat what they were sent: as it was, percent-encoded, in JSON, in base64 and
/// hexadecimal.
package struct Redaction: Sendable {
    package static let mark = "…"

    /// By the first byte, the longest first.
    private var spellings: [UInt8: [[UInt8]]] = [:]

    /// Ignores empty secrets.
    package init(_ secrets: some Sequence<String>) {
        let all = Set(secrets.flatMap(Self.spellings)).filter { !$0.isEmpty }
        for spelling in all { spellings[spelling[0], default: []].append(spelling) }
        for byte in spellings.keys { spellings[byte]?.sort { $0.count > $1.count } }
    }

    /// In order, without overlaps.
    package func ranges(in bytes: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        guard !spellings.isEmpty else { return ranges }
        var index = 0
        while index < bytes.count {
            let found = spellings[bytes[index]]?.first { spelling in
                bytes.count - index >= spelling.count
                    && bytes[index..<index + spelling.count].elementsEqual(spelling)
            }
            if let found { ranges.append(index..<index + found.count) }
            index += found?.count ?? 1
        }
        return ranges
    }

    package func redacted(_ bytes: [UInt8]) -> [UInt8] {
        var rest: [UInt8] = []
        var end = 0
        for range in ranges(in: bytes) {
            rest += bytes[end..<range.lowerBound] + Array(Self.mark.utf8)
            end = range.upperBound
        }
        return end == 0 ? bytes : rest + bytes[end...]
    }

    /// Also removes parts of a secret at the start or end, which a cut left.
    package func redacted(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let clean = withoutRemains(redacted(bytes))
        return clean == bytes ? text : String(decoding: clean, as: UTF8.self)
    }

    /// Without a secret's end at the start, or a secret's start at the end.
    private func withoutRemains(_ bytes: [UInt8]) -> [UInt8] {
        let mark = Array(Self.mark.utf8)
        // A text that was cut ends with the mark.
        let isMarked = bytes.suffix(mark.count).elementsEqual(mark)
        var rest = isMarked ? bytes.dropLast(mark.count) : bytes[...]
        let end = longest(in: rest) { rest.suffix($1).elementsEqual($0.prefix($1)) }
        rest = rest.dropLast(end)
        let begin = longest(in: rest) { rest.prefix($1).elementsEqual($0.suffix($1)) }
        return (begin > 0 ? mark : []) + rest.dropFirst(begin) + (isMarked || end > 0 ? mark : [])
    }

    /// The length of the longest part of a spelling in the text; 0 for one that may be there by
    /// chance.
    private func longest(
        in text: ArraySlice<UInt8>, where isThere: (_ spelling: [UInt8], _ count: Int) -> Bool
    ) -> Int {
        spellings.values.joined().map { spelling -> Int in
            let most = min(spelling.count - 1, text.count)
            guard most >= Self.shortestEncoded else { return 0 }
            return (Self.shortestEncoded...most).last { isThere(spelling, $0) } ?? 0
        }.max() ?? 0
    }

    // MARK: - Spellings

    /// Other spellings of a shorter secret occur by chance.
    private static let shortestEncoded = 4

    private static func spellings(of secret: String) -> Set<[UInt8]> {
        let bytes = Array(secret.utf8)
        guard bytes.count >= shortestEncoded else { return [bytes] }
        let percent = ServiceURL.percentEncoded(secret)
        let hexadecimal = bytes.map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
        let escaped = secret.replacing("\\", with: #"\\"#).replacing("\"", with: #"\""#)
        var all = [
            secret, percent, lowerCaseEscapes(percent), percent.replacing("%20", with: "+"),
            escaped,
            escaped.replacing("/", with: #"\/"#), hexadecimal, hexadecimal.uppercased(),
        ]
        for base64 in inBase64(bytes) {
            all += [
                base64, base64.replacing("+", with: "-").replacing("/", with: "_"),
                base64.replacing("/", with: #"\/"#), ServiceURL.percentEncoded(base64),
            ]
        }
        return Set(all.map { Array($0.utf8) })
    }

    /// The base64 of bytes that stand behind others: only the characters that depend on nothing
    /// else.
    private static func inBase64(_ bytes: [UInt8]) -> [String] {
        (0..<3).compactMap { shift in
            let text = Data([UInt8](repeating: 0, count: shift) + bytes).base64EncodedString()
            let bits = (shift + bytes.count) * 8
            let part = text.prefix(bits / 6).dropFirst((shift * 8 + 5) / 6)
            return part.count < shortestEncoded ? nil : String(part)
        }
    }

    /// With the hexadecimal digits in lower case.
    private static func lowerCaseEscapes(_ text: String) -> String {
        var left = 0
        return String(
            text.map { character in
                if character == "%" { left = 3 }
                left -= 1
                return left >= 0 && character != "%"
                    ? Character(character.lowercased()) : character
            })
    }
}

extension RecognitionService {
    package var redaction: Redaction { Redaction(credentials.flatMap(\.secrets)) }

    package func redacted(_ text: String) -> String { redaction.redacted(text) }

    package func redacted(_ bytes: [UInt8]) -> [UInt8] { redaction.redacted(bytes) }

    package func redacted(_ error: AnswerError) -> AnswerError {
        switch error {
        case .notJSON(let offset, let excerpt):
            .notJSON(offset: offset, excerpt: redacted(excerpt))
        case .missingText(let path, let excerpt, let places):
            .missingText(path: path, excerpt: redacted(excerpt), places: places)
        case .noFinal(let partial): .noFinal(partial: redacted(partial))
        case .serviceReported(let message, let code):
            .serviceReported(message: redacted(message), code: code.map { redacted($0) })
        case .webPage(let title): .webPage(title: title.map { redacted($0) })
        case .unsupportedMediaType(let type): .unsupportedMediaType(redacted(type))
        case .empty, .truncated, .tooDeep, .tooLarge, .tooManyValues, .notText, .undecodable: error
        }
    }
}
