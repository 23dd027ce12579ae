// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs

/// The header fields of one part of a form, as far as they matter (RFC 7578 §4).
struct FormPartHead: Sendable, Equatable {
    /// The field's name; empty without one.
    private(set) var name = ""
    /// The file's name; nil for a field of text.
    private(set) var fileName: String?
    /// The part's `Content-Type`; nil without one.
    private(set) var contentType: String?

    init(_ text: String) {
        for line in text.split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            switch line[..<colon].lowercased() {
            case "content-disposition":
                name = Self.parameter("name", in: value) ?? ""
                fileName = Self.parameter("filename", in: value)
            case "content-type": contentType = String(value)
            default: break
            }
        }
    }

    /// What kind of audio the part is: by the extension of the file's name, as services of this kind
    /// do, or else by its type.
    var mediaType: AudioMediaType {
        get throws(UnsupportedMediaType) {
            if let codec = fileName.flatMap({ AudioCodec(fileName: $0) }) { return .file(codec) }
            return try AudioMediaType(parsing: contentType)
        }
    }

    /// The parameter of a header field such as `name="a b"`; nil without one.
    static func parameter(_ name: String, in value: some StringProtocol) -> String? {
        for part in value.split(separator: ";").dropFirst() {
            let part = part.drop { $0 == " " || $0 == "\t" }
            guard part.lowercased().hasPrefix(name + "=") else { continue }
            let text = part.dropFirst(name.count + 1)
            guard text.hasPrefix("\""), text.hasSuffix("\""), text.count > 1 else {
                return String(text)
            }
            return String(text.dropFirst().dropLast())
        }
        return nil
    }
}
