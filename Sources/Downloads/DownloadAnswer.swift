// SPDX-License-Identifier: Apache-2.0

/// The state of a file that is being fetched.
///
/// A server's word about the file counts until the server says something else.
struct FilePart: Sendable, Equatable {
    /// The first bytes, which are there.
    var byteCount = 0
    /// Bytes of the whole file; nil while they are not known.
    var total: Int?
    /// The server's tag, with its quotation marks, and `W/` before a weak one (RFC 9110 §8.8.3);
    /// or a date from which on the file has not changed, as strong as a tag (§8.8.2.2).
    var tag: String?

    var isWhole: Bool { byteCount == total }

    /// Whether a server can be asked for the rest: a part may belong to another file.
    var canGoOn: Bool { tag.map { !$0.hasPrefix("W/") } ?? false }
}

/// A request for a file, and what is to be done with the head of its answer; pure.
///
/// It wants the whole file, or a range that a playlist names. The rest is asked for only with the tag
/// of the part that is there (`If-Range`, RFC 9110 §13.1.5): a file that has changed begins anew.
struct FileRequest: Sendable {
    let part: FilePart
    /// The wanted bytes of the file on the server; nil: all.
    let range: Range<Int>?
    /// The tag of a whole copy that is there: an unchanged file is not sent again.
    let knownTag: String?
    /// A coding is the file's own, as that of `talk.wav.gz` may be, and is not undone.
    let keepsCoding: Bool

    init(
        _ part: FilePart = FilePart(), of range: Range<Int>? = nil, knownTag: String? = nil,
        keepsCoding: Bool = false
    ) {
        (self.range, self.keepsCoding) = (range, keepsCoding)
        self.part = part.canGoOn ? part : FilePart()
        self.knownTag = knownTag
    }

    /// The first byte that is wanted of the file on the server.
    private var start: Int { (range?.lowerBound ?? 0) + part.byteCount }
    private var asksForRange: Bool { range != nil || part.byteCount > 0 }

    var fields: [(name: String, value: String)] {
        var fields = [(name: "Accept-Encoding", value: "identity")]
        if asksForRange {
            let end = range.map { "\($0.upperBound - 1)" } ?? ""
            fields.append((name: "Range", value: "bytes=\(start)-\(end)"))
        }
        if part.byteCount > 0, let tag = part.tag { fields.append((name: "If-Range", value: tag)) }
        if let knownTag {
            let name = knownTag.hasSuffix("\"") ? "If-None-Match" : "If-Modified-Since"
            fields.append((name: name, value: knownTag))
        }
        return fields
    }

    enum Step: Sendable, Equatable {
        /// The body follows: its bytes stand in the part from `at` on, after those to be skipped.
        case take(at: Int, skipping: Int, FilePart)
        /// The part is the whole file already.
        case whole
        /// The copy that is known is still right.
        case unchanged
        case moved(to: String)
        /// The part belongs to another file, or cannot be gone on with.
        case anew
        /// Now.
        case busy(status: Int)
        case refused(status: Int)
        case unusable(String)
    }

    /// By the final response's head, with names in lower case; `seconds` reads a date of it.
    func step(
        status: Int, headers: [(name: String, value: String)],
        seconds: (String) -> Double? = { _ in nil }
    ) -> Step {
        let field = { (name: String) in headers.first { $0.name == name }?.value }
        var tag = field("etag").flatMap { $0.hasSuffix("\"") && $0.count > 2 ? $0 : nil }
        // A file that changed within a minute might have changed twice (RFC 9110 §8.8.2.2).
        if tag?.hasPrefix("\"") != true, let date = field("last-modified"),
            let now = field("date").flatMap(seconds), seconds(date).map({ now - $0 >= 60 }) == true
        {
            tag = date
        }
        switch status {
        case 200, 206:
            let coding = field("content-encoding")?.lowercased() ?? "identity"
            if !keepsCoding, coding != "identity" {
                guard status == 200, field("content-range") == nil else { return anew }
                // Its length and its tag are those of the coded bytes.
                return wholeFile(of: nil, nil)
            }
            guard let text = field("content-range") else {
                guard status == 200 else { return asksForRange ? anew : .unusable(Self.unasked) }
                return wholeFile(of: field("content-length").flatMap { Int($0) }, tag)
            }
            // A server was seen to answer 200 with a part.
            return partial(ContentRange(text), tag)
        case 304: return knownTag != nil ? .unchanged : .unusable("it answers 304, unasked")
        case 301, 302, 303, 307, 308:
            return field("location").map { .moved(to: $0) }
                ?? .unusable("it answers \(status) without saying where to")
        case 416 where part.byteCount > 0:
            // A server that has not said how long the file is need not say it now.
            let unsaid = part.total == nil ? part.byteCount : -1
            let count = field("content-range").map { ContentRange.total($0) ?? -1 } ?? unsaid
            guard range == nil, count == part.byteCount, part.total ?? count == count,
                tag ?? part.tag == part.tag
            else { return .anew }
            return .whole
        case 408, 425, 429, 500...599: return .busy(status: status)
        default: return .refused(status: status)
        }
    }

    private static let short = "its file ends before the range"
    private static let unasked = "it answers with a part that was not asked for"

    /// Not for ever: what is asked for without a range is answered without one.
    private var anew: Step { part.byteCount > 0 ? .anew : .unusable(Self.unasked) }

    private func wholeFile(of length: Int?, _ tag: String?) -> Step {
        if let range, let length, length < range.upperBound { return .unusable(Self.short) }
        let isTagged = part.byteCount > 0 && tag == part.tag
        let total = range?.count ?? length ?? (isTagged ? part.total : nil)
        let isSame = isTagged && part.total ?? total == total
        let count = isSame ? part.byteCount : 0
        return .take(
            at: count, skipping: (range?.lowerBound ?? 0) + count,
            FilePart(byteCount: count, total: total, tag: tag))
    }

    private func partial(_ found: ContentRange?, _ tag: String?) -> Step {
        guard let found else { return anew }
        let (first, last, total) = (found.first, found.last, found.total)
        if let range, let total, total < range.upperBound { return .unusable(Self.short) }
        if !asksForRange {
            return first == 0 && last + 1 == total
                ? .take(at: 0, skipping: 0, FilePart(total: total, tag: tag))
                : .unusable(Self.unasked)
        }
        let wanted = range?.count ?? total ?? part.total
        guard first <= start, start <= last, last < (range?.upperBound ?? total ?? .max) else {
            return anew
        }
        // A part says of what it is one (RFC 9110 §15.3.7), but for a date.
        let isNamed = tag == part.tag || tag == nil && part.tag?.hasSuffix("\"") == false
        guard part.byteCount == 0 || isNamed && part.total ?? wanted == wanted else {
            return .anew
        }
        return .take(
            at: part.byteCount, skipping: start - first,
            FilePart(byteCount: part.byteCount, total: wanted, tag: tag ?? part.tag))
    }
}

/// `bytes FIRST-LAST/TOTAL`, or `*` for a total that is not known (RFC 9110 §14.4).
private struct ContentRange {
    let first: Int
    let last: Int
    let total: Int?

    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, text.lowercased().hasPrefix("bytes ") else { return nil }
        let total = Int(parts[1])
        let ends = parts[0].dropFirst(6).split(separator: "-").map { Int($0) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last,
            last < total ?? (parts[1] == "*" ? .max : 0)
        else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }

    /// The size in `bytes */TOTAL`.
    static func total(_ text: String) -> Int? {
        text.lowercased().hasPrefix("bytes */") ? Int(text.dropFirst(8)) : nil
    }
}
