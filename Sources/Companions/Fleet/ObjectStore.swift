// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import LinuxPlatform
internal import SpeechService
internal import Synchronization
internal import Upload
package import Utter

/// Why the store does not do what it is asked.
package struct StoreFailure: Error {
    package let reason: String
    /// The same will happen again until something changes: the store refuses this worker.
    package internal(set) var isLasting = false
    /// There is more of it than may be.
    var isTooLong = false
    /// The store refuses this object.
    var isRefusal = false
}

/// The objects below one prefix of a store that speaks S3.
///
/// Each call blocks, and is tried again with growing pauses while the store is busy or away. Names
/// are relative to the prefix: there is no way to one outside.
package final class ObjectStore: Sendable {
    /// The condition on which an object is written.
    enum Condition: Equatable {
        case absent
        case unchanged(tag: String)
        case none
    }

    struct Found {
        var bytes: [UInt8]
        var tag: String
    }

    package let link: ObjectLink
    /// Empty, or ends in a slash.
    private let prefix: String
    /// Whether the store heeds conditions; else a look before each write stands for them.
    private let isConditional = Mutex(true)
    private let numbers: FleetNumbers
    /// Tries of one request: about a minute and a half in all.
    private static let tryLimit = 12
    /// The longest `Retry-After` that is waited for here.
    private static let longestPause = Duration.seconds(30)

    package init(_ link: ObjectLink, prefix: String, numbers: FleetNumbers) {
        (self.link, self.numbers) = (link, numbers)
        self.prefix = prefix.isEmpty || prefix.hasSuffix("/") ? prefix : prefix + "/"
    }

    // MARK: - Reading

    /// Reads an object; nil when there is none.
    func get(_ key: String, limit: Int = 16 << 20) throws(StoreFailure) -> Found? {
        var request = ObjectRequest("GET", key: prefix + key)
        request.limit = limit
        let answer = try perform(request)
        if answer.status == 404 {
            guard answer.code == "NoSuchBucket" else { return nil }
            throw StoreFailure(reason: "\(link.place) has no such bucket", isLasting: true)
        }
        try demand(answer, [200], key)
        return Found(bytes: answer.body, tag: answer.header("etag") ?? "")
    }

    func has(_ key: String) throws(StoreFailure) -> Bool {
        let answer = try perform(ObjectRequest("HEAD", key: prefix + key))
        guard answer.status != 404 else { return false }
        try demand(answer, [200], key)
        return true
    }

    enum Fetched {
        case whole(byteCount: Int, sha256: String), absent, changed, tooLong
    }

    /// Writes an object into an empty file, anew with each try.
    ///
    /// It must have the tag still; nil takes any. More bytes than the limit are not written.
    func fetch(
        _ key: String, tag: String?, into file: any JournalFile, limit: Int
    ) throws(StoreFailure) -> Fetched {
        let count = Mutex((bytes: 0, digest: Digesting(), isTooLong: false))
        var request = ObjectRequest("GET", key: prefix + key)
        if let tag { request.headers.append((name: "If-Match", value: tag)) }
        let answer: ObjectAnswer
        do throws(StoreFailure) {
            answer = try perform(request) {
                count.withLock { $0 = (0, Digesting(), false) }
            } into: { bytes in
                count.withLock { state in
                    state.isTooLong = state.bytes + bytes.count > limit
                    guard !state.isTooLong else { return false }
                    do throws(SystemError) {
                        try file.write(bytes, at: state.bytes)
                    } catch {
                        return false
                    }
                    state.bytes += bytes.count
                    state.digest.hash.update(bytes)
                    return true
                }
            }
        } catch {
            if count.withLock({ $0.isTooLong }) { return .tooLong }
            throw error
        }
        switch answer.status {
        case 404: return .absent
        case 412: return .changed
        default: try demand(answer, [200], key)
        }
        return count.withLock { .whole(byteCount: $0.bytes, sha256: $0.digest.hash.hexadecimal) }
    }

    /// A page of the objects whose names begin like this, behind `last`, without the prefix.
    func page(of beginning: String, after last: String?) throws(StoreFailure) -> ListingPage {
        func encoded(_ text: String) -> String { ServiceURL.percentEncoded(text) }
        var query = "list-type=2&max-keys=1000&prefix=\(encoded(prefix + beginning))"
        if let last { query += "&start-after=\(encoded(prefix + last))" }
        let answer = try perform(ObjectRequest("GET", query: query))
        try demand(answer, [200], beginning)
        guard var page = ListingPage(answer.body) else {
            throw StoreFailure(reason: "\(link.place) answers no listing", isLasting: true)
        }
        // A listing is not trusted: what is outside, or does not go on, is left out.
        page.objects = page.objects.compactMap { object in
            guard object.key.hasPrefix(prefix + beginning) else { return nil }
            var object = object
            object.key.removeFirst(prefix.count)
            return last.map { object.key > $0 } ?? true ? object : nil
        }
        if page.objects.isEmpty { page.isLast = true }
        return page
    }

    // MARK: - Writing

    /// False when the condition did not hold, and nothing was written.
    func put(
        _ key: String, _ bytes: [UInt8], type: String = "application/json",
        if condition: Condition = .none
    ) throws(StoreFailure) -> Bool {
        var digest = SHA256()
        digest.update(bytes.span)
        return try put(
            key, RequestBody(bytes), digest: digest.hexadecimal, type: type, if: condition)
    }

    func put(
        _ key: String, _ body: RequestBody, digest: String?, type: String, if condition: Condition
    ) throws(StoreFailure) -> Bool {
        if condition != .none, !isConditional.withLock({ $0 }) {
            let found = try get(key)
            switch condition {
            case .unchanged(let tag): guard found?.tag == tag else { return false }
            case .absent, .none: guard found == nil else { return false }
            }
        }
        let answer = try perform(writing(key, body, digest, type, condition))
        guard answer.status != 412 else { return false }
        // AWS says so of one that was replaced and is gone.
        if answer.status == 404, case .unchanged = condition { return false }
        try demand(answer, [200, 201, 204], key)
        guard answer.header("etag") == nil || answer.isWebPage else { return true }
        // A store says what it has; a page of something in between says nothing.
        let found = try perform(ObjectRequest("HEAD", key: prefix + key))
        let count = body.wholeByteCount.map { "\($0)" }
        guard found.status == 200, !found.isWebPage, found.header("content-length") == count else {
            throw StoreFailure(reason: "\(link.place) does not show that it has stored '\(key)'")
        }
        return true
    }

    private func writing(
        _ key: String, _ body: RequestBody, _ digest: String?, _ type: String,
        _ condition: Condition
    ) -> ObjectRequest {
        var request = ObjectRequest("PUT", key: prefix + key)
        request.headers.append((name: "Content-Type", value: type))
        if isConditional.withLock({ $0 }) {
            switch condition {
            case .absent: request.headers.append((name: "If-None-Match", value: "*"))
            case .unchanged(let tag): request.headers.append((name: "If-Match", value: tag))
            case .none: break
            }
        }
        (request.body, request.digest) = (body, digest)
        request.body.saysLength = true
        return request
    }

    func remove(_ key: String) throws(StoreFailure) {
        let answer = try perform(ObjectRequest("DELETE", key: prefix + key))
        try demand(answer, [200, 204, 404], key)
    }

    /// Whether the store heeds conditions; throws when it does not, unless that is optional.
    package func probe(isOptional: Bool) throws(StoreFailure) -> Bool {
        let key = "attempts/probe"
        let heeds = try { () throws(StoreFailure) -> Bool in
            let first = try perform(writing(key, RequestBody([0x31]), nil, "text/plain", .absent))
            if [400, 405, 501].contains(first.status) { return false }
            if first.status != 412 { try demand(first, [200, 201, 204], key) }
            let again = try perform(writing(key, RequestBody([0x32]), nil, "text/plain", .absent))
            let other = try perform(
                writing(
                    key, RequestBody([0x33]), nil, "text/plain",
                    .unchanged(tag: "\"00000000000000000000000000000000\"")))
            return again.status == 412 && other.status == 412
        }()
        guard !heeds else { return true }
        guard isOptional else {
            throw StoreFailure(
                reason:
                    "\(link.place) does not heed conditions of a write, so a take could have two "
                    + "results", isLasting: true)
        }
        isConditional.withLock { $0 = false }
        // It must be writable all the same.
        _ = try put(key, [0x31], type: "text/plain")
        return false
    }

    // MARK: - Requests

    private func demand(
        _ answer: ObjectAnswer, _ good: [Int], _ key: String
    ) throws(StoreFailure) {
        guard !good.contains(answer.status) else { return }
        let words = ServiceMessage.extract(from: answer.body).map { ": \($0)" } ?? ""
        let isOfClock = ["RequestTimeTooSkewed", "RequestExpired"].contains(answer.code)
        let isLasting = Self.pause(for: answer) == nil && !isOfClock
        throw StoreFailure(
            reason: "\(link.place) answers \(answer.status) for '\(key)'\(words)"
                + (isOfClock ? "; this machine's clock is wrong" : ""),
            isLasting: isLasting, isRefusal: isLasting && (400..<500).contains(answer.status))
    }

    /// The pause that the store asks for; nil when trying again is of no use.
    private static func pause(for answer: ObjectAnswer) -> Duration? {
        switch answer.status {
        case 408, 409, 425, 429, 500, 502, 503, 504: answer.retryAfter
        default: nil
        }
    }

    private func perform(
        _ request: ObjectRequest, again: () -> Void = {},
        into sink: (@Sendable (Span<UInt8>) -> Bool)? = nil
    ) throws(StoreFailure) -> ObjectAnswer {
        var backoff = Backoff(from: .milliseconds(200), to: .seconds(15))
        while true {
            var asked = Duration.zero
            do throws(ObjectFailure) {
                let answer = try link.perform(request, into: sink)
                guard let pause = Self.pause(for: answer), backoff.tries < Self.tryLimit,
                    pause <= Self.longestPause
                else { return answer }
                asked = pause
            } catch {
                guard case .unreachable = error, backoff.tries < Self.tryLimit else {
                    numbers.add(.storeErrors)
                    var failure = StoreFailure(reason: error.reason)
                    if case .unusable = error { failure.isLasting = true }
                    if case .notTaken = error { failure.isTooLong = true }
                    throw failure
                }
            }
            numbers.add(.storeErrors)
            _ = waits(backoff.next(asked: asked))
            again()
        }
    }
}

/// A digest of its own, so that a lock can hold it.
private struct Digesting: Sendable {
    var hash = SHA256()
}

/// Pauses between tries that grow, each of a random length up to its limit, so that many clients do
/// not come back together.
package struct Backoff: Sendable {
    private let first: Duration
    private let longest: Duration
    private(set) var tries: Int

    package init(from first: Duration, to longest: Duration, after tries: Int = 0) {
        (self.first, self.longest, self.tries) = (first, longest, max(0, tries))
    }

    /// At least half of the limit, which doubles each time, and what the other side asks for.
    package mutating func next(
        asked: Duration = .zero, share: Double = .random(in: 0...1)
    ) -> Duration {
        let limit = min(longest, first * (1 << min(tries, 20)))
        tries += 1
        return max(asked, limit / 2 + (limit / 2) * share)
    }
}
