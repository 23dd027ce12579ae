// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import FoundationEssentials
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
    package struct Counts: Sendable {
        /// Takes that are new, and that were there.
        package internal(set) var new = 0
        package internal(set) var known = 0
        /// Objects that are not recordings, and files that cannot be read.
        package internal(set) var skipped = 0

        package var all: Int { new + known }
    }

    private let store: ObjectStore
    /// The queue; nil leaves the takes to the reconciler.
    private let queue: NATSQueue?
    /// The name of the service that the takes are for; nil: the worker's.
    private let profile: String?
    private let words: [String: String]
    /// Is told of what cannot be read, and now and then how far it is.
    private let tell: @Sendable (String) -> Void
    /// Is told which take a file is, by its path.
    private let named: @Sendable (String, TakeID) -> Void
    private let counts = Mutex((now: Counts(), told: ContinuousClock.now))
    /// Between lines that say how many there are.
    private static let pause = Duration.seconds(5)

    /// The endings of files that are recordings.
    private static let endings: Set = [
        "3gp", "aac", "ac3", "aif", "aifc", "aiff", "amr", "au", "caf", "flac", "m4a", "mka", "mkv",
        "mov", "mp2", "mp3", "mp4", "oga", "ogg", "opus", "snd", "spx", "ts", "w64", "wav", "webm",
        "wma", "wv",
    ]

    package init(
        _ store: ObjectStore, _ queue: NATSQueue?, profile: String?, words: [String: String],
        tell: @escaping @Sendable (String) -> Void,
        named: @escaping @Sendable (String, TakeID) -> Void
    ) {
        (self.store, self.queue, self.profile) = (store, queue, profile)
        (self.words, self.tell, self.named) = (words, tell, named)
    }

    package var now: Counts { counts.withLock { $0.now } }

    private func count(_ member: WritableKeyPath<Counts, Int>) {
        let all = counts.withLock { counts -> Int? in
            counts.now[keyPath: member] += 1
            guard counts.told + Self.pause <= .now else { return nil }
            counts.told = .now
            return counts.now.all
        }
        if let all { tell("submitted \(all)") }
    }

    /// The name of a take by when it began and what it is: the same each time.
    static func name(at date: Date, of contents: [UInt8]) -> TakeID? {
        var digest = SHA256()
        digest.update(contents.span)
        let letters = Array("0123456789abcdefghjkmnpqrstvwxyz")
        let random = String(digest.bytes.prefix(12).map { letters[Int($0) & 31] })
        return TakeID("\(TakeID.start(at: date))-\(random)")
    }

    // MARK: - Objects of the store

    /// Submits all recordings whose names begin like this, below the store's prefix, behind `last`;
    /// may be repeated.
    ///
    /// - Throws: `StoreFailure` or `QueueFailure`; what was submitted stays so.
    package func list(_ beginning: String, after last: String?) throws {
        var objects = ListingReader(store, beginning, after: last)
        while let page = try objects.nextPage() { try Lanes.run(page) { try self.submit($0) } }
    }

    private func submit(_ object: ListedObject) throws {
        let ending = object.key.split(separator: ".").last.map { $0.lowercased() } ?? ""
        let isOwn = ([FleetLayout.takes] + FleetLayout.own).contains(where: object.key.hasPrefix)
        // A date that cannot be read is as good as none.
        let modified = try? Date(object.modified.prefix(19) + "Z", strategy: .iso8601)
        guard !isOwn, Self.endings.contains(ending), FleetLayout.isHarmless(object.key),
            object.byteCount > 0, object.tag.count > 2, let modified,
            let id = Self.name(at: modified, of: Array((object.key + "\n" + object.tag).utf8))
        else { return count(\.skipped) }
        try submit(
            id,
            WorkManifest.Raw(
                version: 1, id: id.text, created: modified.formatted(.iso8601), format: ending,
                byteCount: object.byteCount, etag: object.tag, audio: object.key))
    }

    private func submit(_ id: TakeID, _ manifest: WorkManifest.Raw) throws {
        var manifest = manifest
        manifest.profile = profile
        manifest.words = words.isEmpty ? nil : words
        let key = FleetLayout.manifest(of: id)
        let isNew = try store.put(key, encoded(manifest), if: .absent)
        // A known take may have been lost on its way to the queue, which refuses those that it has.
        _ = try queue?.publish(QueuedTake(id: id, key: key))
        count(isNew ? \.new : \.known)
    }

    // MARK: - Files

    /// Uploads files and submits them; those that cannot be read are told and skipped.
    ///
    /// - Throws: `StoreFailure` or `QueueFailure`; what was submitted stays so.
    package func send(_ paths: [String]) throws {
        try Lanes.run(paths) { [self] path in
            do {
                try send(path)
            } catch let error as SystemError {
                tell("\(path): \(error.reason)")
                count(\.skipped)
            } catch let error as UnusableFile {
                tell("\(path): \(error.reason)")
                count(\.skipped)
            }
        }
    }

    private struct UnusableFile: Error { let reason: String }

    private func send(_ path: String) throws {
        let number = try retryingInterrupts("open") {
            // A pipe without a writer would be waited for.
            unsafe open(path.cPath, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        }
        let file = makePlainFile(OwnedDescriptor(taking: number))
        var status = stat()
        guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size > 0
        else { throw UnusableFile(reason: "it is not a file, or is empty") }
        let body = RequestBody(FileBody(file, byteCount: Int(status.st_size)))
        let digest = try body.sha256()
        let ending = path.split(separator: ".").last.map { $0.lowercased() } ?? ""
        let date = Date(timeIntervalSince1970: TimeInterval(status.st_mtim.tv_sec))
        guard Self.endings.contains(ending) else {
            throw UnusableFile(
                reason: "its name does not end as one of a recording does: "
                    + Self.endings.sorted().joined(separator: ", "))
        }
        guard let id = Self.name(at: date, of: Array(digest.utf8)) else {
            throw UnusableFile(reason: "a name cannot be made of the time of its last change")
        }
        let audio = FleetLayout.manifest(of: id).dropLast("json".count) + ending
        _ = try store.put(
            String(audio), body, digest: digest, type: "application/octet-stream", if: .absent)
        try submit(
            id,
            WorkManifest.Raw(
                version: 1, id: id.text, created: date.formatted(.iso8601), format: ending,
                byteCount: Int(status.st_size), sha256: digest))
        named(path, id)
    }
}
