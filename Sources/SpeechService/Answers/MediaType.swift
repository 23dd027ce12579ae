// SPDX-License-Identifier: Apache-2.0

/// The type and subtype of a `Content-Type` field (RFC 9110 §8.3.1), and the boundary of its parts.
struct MediaType: Sendable, Hashable {
    /// In lower case, such as `application/json`; empty when the field is missing.
    let essence: String
    /// What stands between the parts of a multipart body (RFC 2046 §5.1.1); nil without one.
    let boundary: String?

    init(_ fieldValue: String?) {
        let type = (fieldValue ?? "").prefix { $0 != ";" && $0 != "," }
        essence = type.filter { !$0.isWhitespace }.lowercased()
        boundary = Self.boundary(in: (fieldValue ?? "").dropFirst(type.count))
    }

    /// Whether it promises JSON: one value or a sequence of them.
    var isJSON: Bool {
        switch essence {
        case "application/json", "text/json", "application/x-ndjson", "application/ndjson",
            "application/jsonl", "application/x-jsonl", "application/jsonlines",
            "application/json-seq", "application/stream+json", "application/x-json-stream":
            true
        default: essence.hasPrefix("application/") && essence.hasSuffix("+json")
        }
    }

    var isEvents: Bool { essence == "text/event-stream" }

    var isSubtitles: Bool {
        ["text/vtt", "text/srt", "application/x-subrip", "application/srt"].contains(essence)
    }

    var isMultipart: Bool { essence.hasPrefix("multipart/") }

    var isBinary: Bool {
        ["audio/", "image/", "video/", "font/", "multipart/"].contains { essence.hasPrefix($0) }
            || ["application/pdf", "application/zip", "application/gzip"].contains(essence)
    }

    private static func boundary(in parameters: Substring) -> String? {
        for parameter in parameters.split(separator: ";") {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2,
                parts[0].filter({ !$0.isWhitespace }).lowercased() == "boundary"
            else { continue }
            let text = TerminalText.singleLine(String(parts[1]))
            let isQuoted = text.hasPrefix("\"") && text.hasSuffix("\"") && text.count > 1
            let value = isQuoted ? String(text.dropFirst().dropLast()) : text
            // At most 70 by the RFC.
            return value.isEmpty || value.utf8.count > 200 ? nil : value
        }
        return nil
    }
}
