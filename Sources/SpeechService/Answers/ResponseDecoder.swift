// SPDX-License-Identifier: Apache-2.0

/// Turns the bytes of an answer into hypotheses, as they come.
///
/// Chunks may end anywhere, also inside a character; how they end never changes what comes out.
/// Hypotheses that stand before a failure in the same chunk are returned, and the failure is
/// thrown by the next call; so call `finish()` at the end of every body that came whole. After a
/// throw every further call throws the same. Does not block; memory is bounded by the limit that
/// the decoder was made with.
package protocol ResponseDecoder: Sendable {
    /// - Throws: `AnswerError` when no later byte can make the answer good.
    /// - Returns: what the recogniser thinks now, oldest first; often nothing.
    mutating func accumulate(_ bytes: Span<UInt8>) throws(AnswerError) -> [Hypothesis]

    /// Ends the body, which has come whole (by its length or its last chunk).
    ///
    /// - Throws: `AnswerError` when the body is not an answer.
    mutating func finish() throws(AnswerError) -> [Hypothesis]

    var hasHeardEnd: Bool { get }

    /// The answer has ended by its content: what follows says nothing.
    var isOver: Bool { get }
}

extension ResponseDecoder {
    var hasHeardEnd: Bool { false }
    var isOver: Bool { false }
}

package enum AnswerReading: Sendable {
    case goesOn
    case ended
    case failed
}

package struct AnswerHead: Sendable {
    /// Names in lower case.
    var headers: [(name: String, value: String)]

    package init(headers: [(name: String, value: String)] = []) { self.headers = headers }

    package var mediaType: String? { header("content-type") }

    /// The first field of that name, in any case.
    package func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name == name }?.value
    }
}

/// The type and subtype of a `Content-Type` field (RFC 9110 §8.3.1).
struct MediaType {
    /// In lower case, such as `application/json`; empty when the field is missing.
    let essence: String

    init(_ fieldValue: String?) {
        let type = (fieldValue ?? "").prefix { $0 != ";" && $0 != "," }
        essence = type.filter { !$0.isWhitespace }.lowercased()
    }

    /// The framing that the type implies; nil when it leaves that open.
    var framing: AnswerFraming? {
        switch essence {
        case "application/json", "text/json", "application/x-ndjson", "application/ndjson",
            "application/jsonl", "application/x-jsonl", "application/jsonlines",
            "application/json-seq", "application/stream+json", "application/x-json-stream":
            .sequence
        case _ where essence.hasPrefix("application/") && essence.hasSuffix("+json"): .sequence
        case "text/event-stream": .events
        case "text/vtt", "text/srt", "application/x-subrip", "application/srt": .subtitles
        default: nil
        }
    }

    var isWebPage: Bool { ["text/html", "application/xhtml+xml"].contains(essence) }

    var isBinary: Bool {
        ["audio/", "image/", "video/", "font/", "multipart/"].contains { essence.hasPrefix($0) }
            || ["application/pdf", "application/zip", "application/gzip"].contains(essence)
    }
}
