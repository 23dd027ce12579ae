// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import Glibc
internal import LinuxPlatform
internal import Synchronization
internal import Utter

/// The files whose recordings are kept because they could not be delivered.
///
/// A file that is sent once more goes on as the take that it has: however often that fails, the
/// disk has one copy, and the service sees one id. The takes that wait are read once, by the first
/// file of a process. Calls block on the disk.
final class KnownFiles: Sendable {
    private static let pieceSize = 1 << 20

    /// Those of takes that go on when their file is sent.
    private static let states: [TakeManifest.State] = [.kept, .cancelled]

    private let spool: Spool?
    /// The takes of files that waited when this process looked for them; nil before that.
    private let known = Mutex<[TakeManifest]?>(nil)

    /// What the files of takes that run were before they were read.
    private let versions = Mutex<[TakeID: FileVersion]>([:])

    init(in spool: Spool?) { self.spool = spool }

    /// The takes on the disk; nil where none are, or none can be looked at.
    // In no store, no file is known.
    private var store: TakeStore? { try? spool?.store() }

    /// The kept take of a file that was to go to the same service; nil when there is none.
    func take(of path: String, for plan: DeliveryPlan) -> TakeID? {
        guard let store, let size = Self.byteCount(of: path) else { return nil }
        let waiting = takes(in: store).filter { $0.file?.byteCount == size }
        // Most files are new, and are not read for this.
        guard !waiting.isEmpty, let file = Self.identity(of: path) else { return nil }
        let take = waiting.last { take in
            take.file == file && take.url == plan.service.url.description
                && (take.delivery?.profile?.name ?? "") == (plan.profile?.profile.name ?? "")
        }
        // One that has gone meanwhile, or was answered, is none.
        guard let id = take?.id,
            let state = try? store.take(id).manifest().state,  // As is said above.
            Self.states.contains(state)
        else { return nil }
        return id
    }

    private func takes(in store: TakeStore) -> [TakeManifest] {
        known.withLock { known in
            let found =
                known
                ?? store.idsWithAudio.compactMap { id -> TakeManifest? in
                    // What cannot be read now is not known.
                    guard let take = try? store.take(id).manifest(), take.file != nil,
                        Self.states.contains(take.state)
                    else { return nil }
                    return take
                }
            known = found
            return found
        }
    }

    /// Remembers what the file of a take was before the take began; nil when there is none.
    func began(_ take: TakeID, _ version: FileVersion?) {
        versions.withLock { $0[take] = version }
    }

    /// Forgets it again; nil when nothing is known, as of a take of an earlier run.
    func ended(_ take: TakeID) -> FileVersion? {
        versions.withLock { $0.removeValue(forKey: take) }
    }

    /// Notes of which file a take is the whole; `version` is that from before it was read: another
    /// recording may be in its place by now.
    ///
    /// Where that fails, the file is copied once more by the next try; nothing else is lost.
    func note(_ path: String, of version: FileVersion, as take: TakeID) {
        guard let store, Self.byteCount(of: path) != nil else { return }
        guard let folder = try? store.take(take),  // As above.
            (try? folder.lock()) == true  // As above.
        else { return }
        defer { folder.unlock() }
        guard var manifest = try? folder.manifest(),  // As above.
            manifest.file == nil, Self.states.contains(manifest.state)
        else { return }
        manifest.file = Self.identity(of: path)
        // Not before its bytes are known, too.
        guard version == FileVersion(of: path) else { return }
        try? folder.save(manifest)  // As above.
    }

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

/// A file as it is at a moment: who writes to it, or puts another in its place, makes another one.
struct FileVersion: Sendable, Equatable {
    private let device, number, byteCount: Int
    private let modified, changed: Int

    init?(of path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        (device, number) = (Int(status.st_dev), Int(status.st_ino))
        byteCount = Int(status.st_size)
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
    }

    private static func nanoseconds(_ time: timespec) -> Int {
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
