// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import Glibc
internal import LinuxPlatform
internal import Synchronization
internal import Utter

/// The files whose recordings are kept because they could not be delivered.
///
/// A file that is sent once more goes on as the take that it has: however often that fails, the
/// disk has one copy, and the service sees one id. A note beside the takes names those that are of
/// files, so that the others, which may be thousands, are not looked at. Both calls block on the
/// disk.
final class KnownFiles: Sendable {
    /// More takes than this are not noted; the oldest go first.
    private static let longestNote = 1_500

    /// States of takes that go on when their file is sent.
    private static let states: [TakeManifest.State] = [.kept, .cancelled]

    private let spool: Spool?
    /// The takes that are noted, or nil before they are looked for.
    private let known = Mutex<[Noted]?>(nil)
    /// The versions of the files of running takes before they were read.
    private let versions = Mutex<[TakeID: FileVersion]>([:])

    /// A noted take and the length of its file; nil when it is encrypted.
    private struct Noted {
        var take: TakeID
        var byteCount: Int?
        /// The take as this process has read it; nil until then.
        var manifest: TakeManifest?
    }

    init(in spool: Spool?) { self.spool = spool }

    /// The takes on the disk; nil where none are, or none can be looked at.
    private var store: TakeStore? { try? spool?.store() }

    /// The kept take of a file that was to go to the same service; nil when there is none.
    func take(of path: String, for plan: DeliveryPlan) -> TakeID? {
        guard let size = Self.byteCount(of: path), let store else { return nil }
        let waiting = takes(ofFilesOf: size, in: store)
        // Most files are new, and are not read for this.
        guard !waiting.isEmpty, let file = Self.identity(of: path) else { return nil }
        let take = waiting.last { take in
            take.file == file && take.url == plan.service.url.description
                && (take.delivery?.profileName ?? "") == (plan.profile?.profile.name ?? "")
        }
        // A take that has gone meanwhile, or was answered, does not count.
        guard let id = take?.id,
            let state = try? store.take(id).manifest().state,  // As is said above.
            Self.states.contains(state)
        else { return nil }
        return id
    }

    /// Remembers what the file of a take was before the take began; nil when there is none.
    func began(_ take: TakeID, _ version: FileVersion?) {
        versions.withLock { $0[take] = version }
    }

    /// Forgets it again; nil of a take of an earlier run.
    func ended(_ take: TakeID) -> FileVersion? {
        versions.withLock { $0.removeValue(forKey: take) }
    }

    /// Notes of which file a take is the whole.
    ///
    /// Where that fails, the file is copied once more by the next try; nothing else is lost. The
    /// version is from before it was read: another recording may be in its place by now.
    func note(_ path: String, of version: FileVersion, as take: TakeID) {
        guard Self.byteCount(of: path) != nil, let store else { return }
        guard let folder = try? store.take(take),  // Then it is not noted.
            (try? folder.lock()) == true  // Nor is it then.
        else { return }
        defer { folder.unlock() }
        guard var manifest = try? folder.manifest(),  // Nor then.
            manifest.file == nil, Self.states.contains(manifest.state)
        else { return }
        manifest.note(Self.identity(of: path))
        // Not before its bytes are known, too.
        guard version == FileVersion(of: path) else { return }
        // Then the note is missing.
        guard (try? folder.save(manifest)) != nil else { return }
        let size = manifest.isEncrypted ? nil : manifest.file?.byteCount
        store.change(.takesOfFiles) {
            Self.bytes(of: Self.noted(in: $0) + [Noted(take: take, byteCount: size)])
        }
    }

    /// The takes that wait, and may be of a file of this length; each is read once.
    private func takes(ofFilesOf size: Int, in store: TakeStore) -> [TakeManifest] {
        known.withLock { known in
            var noted = known ?? Self.noted(in: store.note(.takesOfFiles))
            var (found, over): ([TakeManifest], Set<TakeID>) = ([], [])
            for (index, entry) in noted.enumerated() where entry.byteCount ?? size == size {
                do throws(TakeStoreError) {
                    if entry.manifest == nil {
                        noted[index].manifest = try store.take(entry.take).manifest()
                    }
                    guard let take = noted[index].manifest else { continue }
                    if take.state == .answered { over.insert(take.id) }
                    if Self.states.contains(take.state) { found.append(take) }
                } catch {
                    // A take that cannot be read now may be readable next time.
                    if case .noSuchTake = error { over.insert(entry.take) }
                }
            }
            if !over.isEmpty {
                noted.removeAll { over.contains($0.take) }
                store.change(.takesOfFiles) { bytes in
                    Self.bytes(of: Self.noted(in: bytes).filter { !over.contains($0.take) })
                }
            }
            known = noted
            return found
        }
    }

    private static func noted(in bytes: [UInt8]) -> [Noted] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            .compactMap { line in
                let words = line.split(separator: " ")
                return words.first.flatMap { TakeID(String($0)) }
                    .map { Noted(take: $0, byteCount: words.count > 1 ? Int(words[1]) : nil) }
            }
    }

    private static func bytes(of noted: [Noted]) -> [UInt8] {
        let lines = noted.suffix(longestNote).map { entry in
            entry.take.text + (entry.byteCount.map { " \($0)" } ?? "") + "\n"
        }
        return Array(lines.joined().utf8)
    }

    /// The length of a file in bytes; nil unless the path names one that can be read again.
    static func byteCount(of path: String) -> Int? {
        var status = stat()
        guard path != "-", unsafe stat(path.cPath, &status) == 0,
            status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return Int(status.st_size)
    }

    private static func identity(of path: String) -> SentFile? {
        // An unreadable file is not known.
        (try? SHA256.ofFile(at: path)).map {
            SentFile(byteCount: $0.byteCount, sha256: $0.0.hexadecimal)
        }
    }
}

/// A file as it is at a moment: who writes to it, or puts another in its place, makes another one.
struct FileVersion: Sendable, Equatable {
    private let device, number, byteCount: Int
    private let modified, changed: Int

    init?(of path: String) {
        var status = stat()
        guard unsafe stat(path.cPath, &status) == 0 else { return nil }
        (device, number) = (Int(status.st_dev), Int(status.st_ino))
        byteCount = Int(status.st_size)
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
    }

    private static func nanoseconds(_ time: timespec) -> Int {
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
