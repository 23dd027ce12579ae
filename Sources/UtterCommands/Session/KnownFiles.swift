// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import Glibc
internal import LinuxPlatform
internal import Synchronization
internal import Utter

/// The files whose recordings are kept because they could not be delivered.
///
/// A file that is sent once more goes on as the take that it has: however often that fails, the
/// disk has one copy, and the service sees one id. Both calls block on the disk.
final class KnownFiles: Sendable {
    private static let pieceSize = 1 << 20

    private let store: TakeStore?
    private let lookup: TakeLookup
    /// The takes that wait, or nil before they are looked for.
    private let known = Mutex<[SentFile: [TakeManifest]]?>(nil)

    /// Looks in a store; in none, no file is known.
    init(in store: TakeStore?, _ lookup: TakeLookup) { (self.store, self.lookup) = (store, lookup) }

    /// The kept take of a file that was to go to the same service; nil when there is none.
    func take(of path: String, for plan: DeliveryPlan) -> TakeFolder? {
        guard let store, let size = Self.byteCount(of: path) else { return nil }
        let known = takes(in: store)
        // Most files are new, and are not read for this.
        guard known.keys.contains(where: { $0.byteCount == size }),
            let file = Self.identity(of: path)
        else { return nil }
        let take = known[file]?.last { take in
            take.url == plan.service.url.description
                && take.delivery?.profile?.texts.first?.name == plan.profile?.profile.name
        }
        // One that has gone meanwhile is none.
        return take.flatMap { try? store.take($0.id) }
    }

    /// Notes which file a take was made of.
    ///
    /// Where that fails, the file is copied once more by the next try; nothing else is lost.
    func note(_ path: String, as take: TakeID) {
        guard let store, Self.byteCount(of: path) != nil else { return }
        guard let folder = try? store.take(take),  // As above.
            (try? folder.lock()) == true  // As above.
        else { return }
        defer { folder.unlock() }
        guard var manifest = try? folder.manifest(),  // As above.
            manifest.file == nil, [.kept, .cancelled].contains(manifest.state)
        else { return }
        manifest.file = Self.identity(of: path)
        // As above.
        try? folder.save(manifest)
    }

    private func takes(in store: TakeStore) -> [SentFile: [TakeManifest]] {
        known.withLock { known in
            if let known { return known }
            // What cannot be read is not known.
            let takes = try? TakeLookup.takes(in: store) {
                $0.file != nil && [.kept, .cancelled].contains($0.state)
            }
            var found: [SentFile: [TakeManifest]] = [:]
            for take in takes ?? [] {
                if let file = take.file { found[file, default: []].append(take) }
            }
            known = found
            return found
        }
    }

    /// The length of an ordinary file; nil of anything else, which may be another thing next time.
    private static func byteCount(of path: String) -> Int? {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return Int(status.st_size)
    }

    private static func identity(of path: String) -> SentFile? {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let file = OwnedDescriptor(taking: number)
        var (digest, count) = (SHA256(), 0)
        var buffer = [UInt8](repeating: 0, count: pieceSize)
        while true {
            // What cannot be read now is not known.
            let read = try? retryingInterrupts("read") {
                unsafe Glibc.read(file.number, &buffer, buffer.count)
            }
            guard let read else { return nil }
            guard read > 0 else { return SentFile(byteCount: count, sha256: digest.hexadecimal) }
            digest.update(buffer.span.extracting(first: read))
            count += read
        }
    }
}
