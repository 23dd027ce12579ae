// SPDX-License-Identifier: Apache-2.0

/// Reads the texts of single elements of an XML document, such as the answers of S3.
///
/// It is not a parser: what it looks for has a name of its own and holds text alone. A document
/// that is cut off or broken has the elements that are whole.
package enum XMLElement {
    /// In bytes: what a person or a request needs is short.
    private static let byteLimit = 1 << 20
    private static let entities = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'",
        // Subtitles have these (WebVTT §6.4).
        "nbsp": " ", "lrm": "\u{200E}", "rlm": "\u{200F}",
    ]

    /// In order; the prefix of a name does not matter.
    package static func texts(of name: String, in document: [UInt8]) -> [String] {
        let start = document.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
        guard start == UInt8(ascii: "<") else { return [] }
        var texts: [String] = []
        // An opening tag and what follows it, up to the next tag.
        let text = String(decoding: document.prefix(byteLimit), as: UTF8.self)
            .replacing(/<!\[CDATA\[([^<]*?)\]\]>/) { escaped(String($0.1)) }
        let pieces = text.split(separator: "<", omittingEmptySubsequences: false)
        for (piece, next) in zip(pieces, pieces.dropFirst()) where next.hasPrefix("/") {
            guard let end = piece.firstIndex(of: ">") else { continue }
            let tag = piece[..<end].prefix { !$0.isWhitespace }
            guard tag.split(separator: ":").last.map(String.init) == name, !tag.hasPrefix("/")
            else { continue }
            texts.append(plain(piece[piece.index(after: end)...]))
        }
        return texts
    }

    /// The highest status in an answer of several parts (RFC 4918 §14.28).
    package static func worstStatus(in document: [UInt8]) -> Int? {
        texts(of: "status", in: document).compactMap { line in
            line.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        }.max()
    }

    /// Whether its first element has an end, behind everything else.
    static func isWhole(_ document: [UInt8]) -> Bool {
        let tags = String(decoding: document, as: UTF8.self).split(separator: "<")
        let name = tags.first { $0.first?.isLetter == true }?
            .prefix { !$0.isWhitespace && $0 != ">" }
        return name.flatMap { tags.last?.hasPrefix("/\($0)>") } ?? false
    }

    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
    }

    /// A text with its letters put back; what is not known stays as it is.
    package static func plain(_ text: Substring) -> String {
        guard text.contains("&") else { return String(text) }
        let pieces = text.split(separator: "&", omittingEmptySubsequences: false)
        return pieces.dropFirst().reduce(into: String(pieces[0])) { result, piece in
            guard let end = piece.firstIndex(of: ";"), let letter = letter(piece[..<end]) else {
                return result += "&" + piece
            }
            result += letter + piece[piece.index(after: end)...]
        }
    }

    private static func letter(_ name: Substring) -> String? {
        guard name.hasPrefix("#") else { return entities[String(name)] }
        let isHex = name.lowercased().hasPrefix("#x")
        let number = UInt32(name.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10)
        return number.flatMap { Unicode.Scalar($0) }.map { String(Character($0)) }
    }
}
