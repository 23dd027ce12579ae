// SPDX-License-Identifier: Apache-2.0

/// What is known of a file that is being fetched.
///
/// What a server says of the file counts until the server says something else.
package struct FilePart: Sendable, Equatable {
    /// The first bytes, which are there.
    package var byteCount = 0
    /// Of the whole file; nil while it is not known.
    package var total: Int?
    /// With its quotation marks, and `W/` before a weak one (RFC 9110 §8.8.3).
    package var tag: String?

    package init(byteCount: Int = 0, total: Int? = nil, tag: String? = nil) {
        (self.byteCount, self.total, self.tag) = (byteCount, total, tag)
    }

    package var isWhole: Bool { byteCount == total }
}

/// One request for a file, and what is to be done with the head of its answer; pure.
///
/// What is wanted is the whole file, or a range of it that a playlist names. The rest is asked for only
/// with the tag of what is there (`If-Range`, RFC 9110 §13.1.5): a file that has changed begins anew.
package struct FileRequest: Sendable {
    let part: FilePart
    /// Of the file on the server.
    let range: Range<Int>?
    /// Of a whole copy that is there: an unchanged one is not sent again.
    let knownTag: String?

    package init(
        _ part: FilePart = FilePart(), of range: Range<Int>? = nil, knownTag: String? = nil
    ) {
        self.range = range
        // Without a strong tag what is there may be a part of another file.
        self.part = part.tag?.hasPrefix("\"") == true ? part : FilePart()
        self.knownTag = knownTag
    }

    /// Of the file on the server.
    private var start: Int { (range?.lowerBound ?? 0) + part.byteCount }
    private var asksForRange: Bool { range != nil || part.byteCount > 0 }

    package var fields: [(name: String, value: String)] {
        var fields = [(name: "Accept-Encoding", value: "identity")]
        if asksForRange {
            let end = range.map { "\($0.upperBound - 1)" } ?? ""
            fields.append((name: "Range", value: "bytes=\(start)-\(end)"))
        }
        if part.byteCount > 0, let tag = part.tag { fields.append((name: "If-Range", value: tag)) }
        if let knownTag { fields.append((name: "If-None-Match", value: knownTag)) }
        return fields
    }

    package enum Step: Sendable, Equatable {
        /// The body follows: its bytes stand in the part from `at` on, after those to be skipped.
        case take(at: Int, skipping: Int, FilePart)
        /// What is there is all.
        case whole
        /// The copy that is known is still right.
        case unchanged
        case moved(to: String)
        /// What is there belongs to another file, or cannot be gone on with.
        case anew
        /// Now; perhaps not after so many seconds, if it says how many.
        case busy(status: Int, after: Int?)
        case refused(status: Int)
        case unusable(String)
    }

    /// By the final response's head, with names in lower case.
    package func step(status: Int, headers: [(name: String, value: String)]) -> Step {
        let field = { (name: String) in headers.first { $0.name == name }?.value }
        let tag = field("etag").flatMap { $0.hasSuffix("\"") && $0.count > 2 ? $0 : nil }
        switch status {
        case 200, 206:
            if let coding = field("content-encoding"), coding.lowercased() != "identity" {
                return .unusable("it comes in the encoding '\(coding.prefix(20))', unasked")
            }
            guard let text = field("content-range") else {
                guard status == 200 else { return asksForRange ? anew : .unusable(Self.unasked) }
                return wholeFile(of: field("content-length").flatMap { Int($0) }, tag)
            }
            // One server answers 200 with a part.
            return partial(ContentRange(text), tag)
        case 304: return knownTag != nil ? .unchanged : .unusable("it answers 304, unasked")
        case 301, 302, 303, 307, 308:
            return field("location").map { .moved(to: $0) }
                ?? .unusable("it answers \(status) without saying where to")
        case 416 where part.byteCount > 0:
            guard range == nil, let total = field("content-range").flatMap(ContentRange.total),
                total == part.byteCount, part.total ?? total == total, tag ?? part.tag == part.tag
            else { return .anew }
            return .whole
        case 408, 425, 429, 500...599:
            return .busy(
                status: status, after: field("retry-after").flatMap { UInt16($0) }.map(Int.init))
        default: return .refused(status: status)
        }
    }

    private static let short = "its file ends before the range"
    private static let unasked = "it answers with a part that was not asked for"

    /// Not for ever: what is asked for without a range is answered without one.
    private var anew: Step { part.byteCount > 0 ? .anew : .unusable(Self.unasked) }

    private func wholeFile(of length: Int?, _ tag: String?) -> Step {
        guard let range else {
            return .take(at: 0, skipping: 0, FilePart(total: length, tag: tag))
        }
        if let length, length < range.upperBound { return .unusable(Self.short) }
        return .take(at: 0, skipping: range.lowerBound, FilePart(total: range.count, tag: tag))
    }

    private func partial(_ found: ContentRange?, _ tag: String?) -> Step {
        guard let found else { return anew }
        let (first, last, total) = (found.first, found.last, found.total)
        if let range, total < range.upperBound { return .unusable(Self.short) }
        if !asksForRange {
            return first == 0 && last == total - 1
                ? .take(at: 0, skipping: 0, FilePart(total: total, tag: tag))
                : .unusable(Self.unasked)
        }
        let wanted = range?.count ?? total
        guard first == start, last < (range?.upperBound ?? total) else { return anew }
        // A part says of what it is one (RFC 9110 §15.3.7).
        guard part.byteCount == 0 || tag == part.tag && part.total ?? wanted == wanted else {
            return .anew
        }
        return .take(
            at: part.byteCount, skipping: 0,
            FilePart(byteCount: part.byteCount, total: wanted, tag: tag ?? part.tag))
    }
}

/// `bytes FIRST-LAST/TOTAL` (RFC 9110 §14.4).
private struct ContentRange {
    let first: Int
    let last: Int
    let total: Int

    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, text.lowercased().hasPrefix("bytes "), let total = Int(parts[1])
        else { return nil }
        let ends = parts[0].dropFirst(6).split(separator: "-").map { Int($0) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last < total
        else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }

    /// Of `bytes */TOTAL`.
    static func total(_ text: String) -> Int? {
        text.lowercased().hasPrefix("bytes */") ? Int(text.dropFirst(8)) : nil
    }
}
