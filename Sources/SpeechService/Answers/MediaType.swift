// SPDX-License-Identifier: Apache-2.0

/// The type and subtype of a `Content-Type` field (RFC 9110 §8.3.1).
struct MediaType: Sendable, Hashable {
    /// In lower case, such as `application/json`; empty when the field is missing.
    let essence: String

    init(_ fieldValue: String?) {
        let type = (fieldValue ?? "").prefix { $0 != ";" && $0 != "," }
        essence = type.filter { !$0.isWhitespace }.lowercased()
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

    var isBinary: Bool {
        ["audio/", "image/", "video/", "font/", "multipart/"].contains { essence.hasPrefix($0) }
            || ["application/pdf", "application/zip", "application/gzip"].contains(essence)
    }
}
