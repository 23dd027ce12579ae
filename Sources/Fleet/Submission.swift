// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
package import FoundationEssentials
internal import Glibc
internal import LinuxPlatform
internal import Synchronization
package import TakeStore
internal import Upload
internal import Utter

/// Hands recordings to a fleet: files, or objects that lie in the store already.
///
/// Each gets its name from what it is, so that whatever is submitted twice is one take. From any thread;
/// calls block.
package final class Submission: Sendable {
    package struct Counts: Sendable, Equatable {
        /// Takes that are new, and that were there.
        package var new = 0
        package var known = 0
        /// Objects that are no recordings, and files that cannot be read.
        package var skipped = 0

        package var all: Int { new + known }
    }

    private let store: ObjectStore
    /// Nil leaves the takes to the reconciler.
    private let queue: (any WorkQueue)?
    private let profile: String?
    private let words: [String: String]
    private let counts = Mutex(Counts())

    /// The endings of files that are recordings.
    package static let endings: Set = [
        "aac", "aif", "aiff", "amr", "flac", "m4a", "mka", "mp3", "mp4", "oga", "ogg", "opus",
        "wav",
        "webm", "wma",
    ]

    package init(
        _ store: ObjectStore, _ queue: (any WorkQueue)?, profile: String? = nil,
        words: [String: String] = [:]
    ) { (self.store, self.queue, self.profile, self.words) = (store, queue, profile, words) }

    package var now: Counts { counts.withLock { $0 } }

    /// What is written of a recording.
    private struct Manifest: Encodable {
        let version = 1
        var id: TakeID
        var created: String
        var format: String
        var byteCount: Int
        var sha256: String?
        var etag: String?
        var audio: String?
        var profile: String?
        var words: [String: String]?
    }

    /// The name of a take by when it began and what it is: the same each time.
    package static func name(at date: Date, of contents: [UInt8]) -> TakeID? {
        var digest = SHA256()
        digest.update(contents.span)
        let letters = Array("0123456789abcdefghjkmnpqrstvwxyz")
        let random = String(digest.bytes.prefix(12).map { letters[Int($0) & 31] })
        let time = date.formatted(.iso8601).filter(\.isNumber)
        return TakeID("\(time.prefix(8))-\(time.dropFirst(8).prefix(6))-\(random)")
    }

    // MARK: - Objects of the store

    /// Submits all recordings below a prefix; may be repeated, and goes on where it was then.
    ///
    /// - Parameters:
    ///   - beginning: how their names begin, below the store's prefix.
    ///   - last: behind this one; nil is all.
    /// - Throws: `StoreFailure` or `QueueFailure`; what was submitted stays so.
    package func list(_ beginning: String, after last: String? = nil) throws {
        let objects = SharedListing(store, beginning, after: last)
        try Lanes.run {
            try objects.next()
        } _: { [self] object in
            try submit(object)
        }
    }

    private func submit(_ object: ListedObject) throws {
        let ending = object.key.split(separator: ".").last.map { $0.lowercased() } ?? ""
        let isOwn = ([FleetLayout.takes] + FleetLayout.own).contains(where: object.key.hasPrefix)
        // A date that cannot be read is as good as none.
        let modified = try? Date(object.modified.prefix(19) + "Z", strategy: .iso8601)
        guard !isOwn, Self.endings.contains(ending), FleetLayout.isHarmless(object.key),
            object.byteCount > 0, object.tag.count > 2, let modified,
            let id = Self.name(at: modified, of: Array((object.key + "\n" + object.tag).utf8))
        else { return counts.withLock { $0.skipped += 1 } }
        try submit(
            Manifest(
                id: id, created: modified.formatted(.iso8601), format: ending,
                byteCount: object.byteCount, etag: object.tag, audio: object.key))
    }

    private func submit(_ manifest: Manifest) throws {
        var manifest = manifest
        manifest.profile = profile
        manifest.words = words.isEmpty ? nil : words
        let key = FleetLayout.manifest(of: manifest.id)
        let isNew = try store.put(key, encoded(manifest), if: .absent)
        // One that is there may have been lost on its way to the queue, which refuses what it has.
        _ = try queue?.publish(QueuedTake(id: manifest.id, key: key), seconds: 0)
        counts.withLock { if isNew { $0.new += 1 } else { $0.known += 1 } }
    }

    // MARK: - Files

    /// Uploads files and submits them.
    ///
    /// - Parameters:
    ///   - paths: the files.
    ///   - tell: is told of those that cannot be read.
    /// - Throws: `StoreFailure` or `QueueFailure`; what was submitted stays so.
    package func send(
        _ paths: [String], tell: @escaping @Sendable (String) -> Void
    ) throws {
        let rest = SharedList(paths)
        try Lanes.run {
            rest.next()
        } _: { [self] path in
            do {
                try send(path)
            } catch let error as SystemError {
                counts.withLock { $0.skipped += 1 }
                tell("\(path): \(error.reason)")
            } catch let error as UnusableFile {
                counts.withLock { $0.skipped += 1 }
                tell("\(path): \(error.reason)")
            }
        }
    }

    private struct UnusableFile: Error { let reason: String }

    private func send(_ path: String) throws {
        let number = try retryingInterrupts("open") { unsafe open(path, O_RDONLY | O_CLOEXEC) }
        let file = makePlainFile(OwnedDescriptor(taking: number))
        var status = stat()
        guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size > 0
        else { throw UnusableFile(reason: "it is no file, or an empty one") }
        let body = FileBody(file, byteCount: Int(status.st_size))
        let digest = try Self.digest(of: body)
        let ending = path.split(separator: ".").last.map { $0.lowercased() } ?? ""
        let date = Date(timeIntervalSince1970: TimeInterval(status.st_mtim.tv_sec))
        guard Self.endings.contains(ending) else {
            throw UnusableFile(
                reason: "its name does not end as one of a recording does: "
                    + Self.endings.sorted().joined(separator: ", "))
        }
        guard let id = Self.name(at: date, of: Array(digest.utf8)) else {
            throw UnusableFile(reason: "the time of its last change makes no name")
        }
        let audio = FleetLayout.manifest(of: id).dropLast("json".count) + ending
        _ = try store.put(
            String(audio), RequestBody(body), digest: digest, type: "application/octet-stream",
            if: .absent)
        try submit(
            Manifest(
                id: id, created: date.formatted(.iso8601), format: ending,
                byteCount: body.byteCount, sha256: digest))
    }

    private static func digest(of body: FileBody) throws(SystemError) -> String {
        var (digest, offset) = (SHA256(), 0)
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while offset < body.byteCount {
            let count = try read(body, at: offset, into: &buffer)
            guard count > 0 else { throw SystemError(call: "read", code: EIO) }
            digest.update(buffer.span.extracting(first: count))
            offset += count
        }
        return digest.hexadecimal
    }

    private static func read(
        _ body: FileBody, at offset: Int, into buffer: inout [UInt8]
    ) throws(SystemError) -> Int {
        let found = unsafe buffer.withUnsafeMutableBytes { bytes in
            Result { () throws(SystemError) in
                unsafe try body.readBytes(
                    at: offset,
                    into: UnsafeMutableRawBufferPointer(
                        rebasing: bytes[..<min(bytes.count, body.byteCount - offset)]))
            }
        }
        return try found.get()
    }
}

/// One listing that lanes read in turn.
private final class SharedListing: Sendable {
    private let reader: Mutex<ListingReader>

    init(_ store: ObjectStore, _ beginning: String, after last: String?) {
        reader = Mutex(ListingReader(store, beginning, after: last))
    }

    func next() throws -> ListedObject? { try reader.withLock { try $0.next() } }
}

final class SharedList<Thing: Sendable>: Sendable {
    private let things: Mutex<ArraySlice<Thing>>

    init(_ things: [Thing]) { self.things = Mutex(things[...]) }

    func next() -> Thing? { things.withLock { $0.popFirst() } }
}
