// SPDX-License-Identifier: Apache-2.0

/// Why an answer with a good status is not a transcript.
///
/// Offsets count bytes of the body from zero. Excerpts are at most 200 bytes and harmless to a
/// terminal (`TerminalText`).
public enum AnswerError: Error, Sendable, Equatable {
    /// The body has no bytes, or white space where JSON was promised.
    case empty
    /// The body is not JSON at this byte.
    case notJSON(offset: Int, excerpt: String)
    /// The body ends inside a JSON value, or before the last of its parts.
    case truncated(byteCount: Int)
    /// Arrays and objects are nested deeper than `limit` at this byte.
    case tooDeep(offset: Int, limit: Int)
    /// The body, or what must be kept of it, is larger than `limit` bytes.
    case tooLarge(limit: Int)
    /// The body holds more than `limit` JSON values in one document.
    case tooManyValues(limit: Int)
    /// The body has a NUL at this byte, as UTF-16 has: it is not UTF-8 text.
    case notText(offset: Int)
    /// The JSON has no text at the path that the rule names; `places` has some.
    case missingText(path: String, excerpt: String, places: [String] = [])
    /// The stream ended after partial text and without a final.
    case noFinal(partial: String)
    /// The service says that it failed, in an answer with a good status; `code` is its own name or
    /// number of the error.
    case serviceReported(message: String, code: String? = nil)
    /// The body is a web page.
    case webPage(title: String?)
    /// The answer has a media type that nothing here reads.
    case unsupportedMediaType(String)
    /// The transcript cannot be decoded in the way that the head names; `reason` says why.
    case undecodable(reason: String)
}

extension AnswerError: CustomStringConvertible {
    /// The message: what happened and why, in one line without capital and full stop.
    public var description: String {
        switch self {
        case .empty:
            "the service accepted the recording and answered nothing"
        case .notJSON(let offset, let excerpt):
            "the answer is not JSON: byte \(offset), at '\(excerpt)'"
        case .truncated(let byteCount):
            "the answer was cut off after \(byteCount) bytes, in the middle of a value"
        case .tooDeep(let offset, let limit):
            "the answer nests JSON deeper than \(limit) levels at byte \(offset)"
        case .tooLarge(let limit):
            "the answer is larger than \(ByteCount.text(limit))"
        case .tooManyValues(let limit):
            "the answer holds more than \(limit) JSON values"
        case .notText(let offset):
            "the answer is not UTF-8 text: byte \(offset)"
        case .missingText(let path, let excerpt, let places):
            places.isEmpty
                ? "the answer has no text at '\(Self.short(path))': '\(excerpt)'"
                : "the answer has no text at '\(Self.short(path))'; there is text at "
                    + places.prefix(3).joined(separator: ", ")
                    + (places.count > 3 ? " and \(places.count - 3) more places" : "")
        case .noFinal(let partial):
            "the answer ended without a final text; the last partial was '\(partial)'"
        case .serviceReported(let message, let code):
            "the service reported an error: \(message)" + Self.addition(code, to: message)
        case .webPage(let title):
            "the answer is a web page, not a transcript" + (title.map { ": '\($0)'" } ?? "")
        case .unsupportedMediaType(let mediaType):
            "the answer is of type '\(mediaType)', which utter does not read"
        case .undecodable(let reason): "the transcript in the answer's head is \(reason)"
        }
    }

    private static func short(_ path: String) -> String {
        path.count <= 200 ? path : "\(path.prefix(200))…"
    }

    private static func addition(_ code: String?, to message: String) -> String {
        guard let code, !message.contains(code) else { return "" }
        return " (\(code))"
    }

    package var isOfRule: Bool {
        switch self {
        case .missingText, .notJSON, .unsupportedMediaType: true
        default: false
        }
    }
}

enum ByteCount {
    static func text(_ count: Int) -> String {
        count >= 1 << 20 && count % (1 << 20) == 0 ? "\(count >> 20) MiB" : "\(count) bytes"
    }
}
