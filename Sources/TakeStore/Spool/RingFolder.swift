// SPDX-License-Identifier: Apache-2.0

package import AudioCore
internal import Cryptography
internal import FoundationEssentials
internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// The rings of a spool's live takes, as files in memory: a killed program leaves there what the disk
/// does not have yet.
///
/// The name of a file has a digest of the spool's path, one of the folder to which that path leads, and
/// the take. The folder is known once the disk has answered: then a program finds the ring by any path
/// to it. Where path and folder do not agree, the ring is for a take alone that is there: another disk may
/// be at the path, or another folder may have the same inode.
///
/// The header contains the take's manifest. The file stays locked while its process lives. It is removed
/// when the disk has all of it. A restart of the machine removes the rest, including the rings of spools
/// that no program opens again.
package struct RingFolder: Sendable {
    /// Further takes at once have their rings in the memory of the process: the memory file system of
    /// a container may have 64 MB.
    private static let mostAtOnce = 8

    /// Folders of this person's in memory, of which the first that can be used is.
    private let paths: [String]
    private let spool: String
    /// The digest of the spool's path, with which the names of its rings begin.
    let digest: String
    private let fullestShare: Double
    /// The digest of a folder that the disk has not shown yet.
    private static let unknown = String(repeating: "0", count: 16)

    /// Where every process of this person looks.
    ///
    /// That is the folder of the login session, and where there is none, the memory that all persons
    /// share. A variable would name another one to each process.
    package static var usualPaths: [String] {
        ["/run/user/\(geteuid())/utter", "/dev/shm/utter-\(geteuid())"]
    }

    /// Names folders, and touches nothing.
    ///
    /// - Parameters:
    ///   - paths: absolute; see `usualPaths`.
    ///   - spool: the absolute path of the takes' folder. The disk, which may hang, is not asked.
    ///   - fullestShare: the share of a file system that is in use at most where a ring is made.
    package init(
        in paths: [String] = usualPaths, ofSpool spool: String, fullestShare: Double = 0.25
    ) {
        (self.paths, self.spool, self.fullestShare) = (paths, spool, fullestShare)
        digest = Self.digest(of: spool.split(separator: "/").joined(separator: "/"))
    }

    private static func digest(of text: String) -> String {
        String(SHA256.hexadecimal(of: text).prefix(16))
    }

    // MARK: - Names

    /// The digest of the folder that the path leads to now; blocks on the disk.
    fileprivate var folderDigest: String {
        Folder.identity(at: spool).map(Self.digest) ?? Self.unknown
    }

    /// The name of the ring of a take.
    func name(of id: TakeID, in folder: String = unknown) -> String {
        "\(digest)-\(folder)-\(id.text)"
    }

    /// The rings in a folder that may be the spool's, their takes, and whether path and folder agree;
    /// blocks on the disk when there is any.
    func rings(in folder: Folder) -> [(name: String, id: TakeID, isSure: Bool)] {
        // A folder that cannot be listed has nothing for us.
        guard let names = try? folder.names(), !names.isEmpty else { return [] }
        let own = folderDigest
        return names.compactMap { name in
            let parts = name.split(separator: "-", maxSplits: 2)
            guard parts.count == 3, let id = TakeID(String(parts[2])) else { return nil }
            let (isByPath, isPlaced) = (parts[0] == digest, parts[1] != Self.unknown)
            guard isByPath || isPlaced && parts[1] == own else { return nil }
            return (name, id, isByPath && (!isPlaced || parts[1] == own))
        }
    }

    /// Makes the ring of a take that begins, and whose name may change; from any thread.
    ///
    /// - Parameters:
    ///   - manifest: has nothing that is to stay secret. When it is too long, it is kept without the
    ///     delivery: the take waits for a service then.
    ///   - isLive: a voice; half of the places are for voices alone.
    ///   - minimumCapacity: in bytes.
    /// - Returns: the ring's memory, which has the file.
    /// - Throws: `SystemError` when there is no place for it in memory.
    package func makeRing(
        of manifest: TakeManifest, isLive: Bool = true, minimumCapacity: Int
    ) throws(SystemError) -> RingFile {
        guard let text = Self.text(of: manifest) else {
            throw SystemError(call: "describe a take", code: EFBIG)
        }
        let most = Self.mostAtOnce / (isLive ? 1 : 2)
        let (folder, name) = (try folder(with: most), name(of: manifest.id))
        do throws(SystemError) {
            let capacity = RingMemory.capacity(atLeast: minimumCapacity)
            // The first to lock it has it: a recovery that is quicker finds nothing in it.
            let file = try MappedFile(
                folder.createFile(name), byteCount: RingMemory.headerByteCount + capacity)
            let memory = unsafe RingMemory(file.base, capacity: capacity, text: text) { _ in
                withExtendedLifetime(file) {}
            }
            return RingFile(memory, named: name, by: self, in: folder)
        } catch {
            // A file that stays is removed by the next recovery.
            try? folder.removeFile(name)
            throw error
        }
    }

    private static func text(of manifest: TakeManifest) -> [UInt8]? {
        var unsent = manifest
        unsent.delivery = nil
        // Written to the disk it is the same, and nothing fails there.
        return [manifest, unsent].lazy.compactMap { try? $0.encoded() }
            .first { $0.count <= RingMemory.longestText }
    }

    private func folder(with most: Int) throws(SystemError) -> Folder {
        var failure = SystemError(call: "there is no folder in memory", code: ENOENT)
        for path in paths where Folder.isFolder(at: Folder.parent(of: path)) {
            do throws(SystemError) {
                if let danger = Folder.danger(at: path) {
                    throw SystemError(call: "\(path) cannot be used: \(danger)", code: EPERM)
                }
                let folder = try Folder.make(at: path)
                try folder.closeToOthers()
                let rings = try folder.makeFolder("rings")
                guard usedShare(at: path).map({ $0 <= fullestShare }) ?? false,
                    try rings.names().count(where: { $0.hasPrefix(digest) }) < most
                else { throw SystemError(call: "make a ring in \(path)", code: ENOSPC) }
                return rings
            } catch {
                failure = error
            }
        }
        throw failure
    }

    // MARK: - Recovery

    /// Makes takes of rings whose program was killed before the disk had anything of them, and removes
    /// those of takes that have ended.
    ///
    /// Blocks on the disk. The new ones are as other takes whose program was killed while it recorded.
    ///
    /// - Parameter open: opens the folder of takes, once there is anything for it.
    package func adoptOrphans(in open: () throws(TakeStoreError) -> TakeStore) {
        for folder in present {
            for (name, id, isSure) in rings(in: folder) {  // Mostly none.
                // The caller tells why it cannot be opened.
                guard let store = try? open(), isSure || store.hasTake(id) else { continue }
                let isThere = store.hasTake(id) && !store.isHollow(id)
                // A take that was being recorded gets its ring when it is recovered.
                if isThere, (try? store.take(id).isRecorded) ?? true { continue }
                // The disk may take it the next time.
                try? claim(name, in: folder) { ring in
                    // A person has removed the rest of a take that has begun and is gone.
                    guard !isThere, ring.offset == 0, !ring.bytes.isEmpty else { return }
                    _ = try ring.manifest(of: id)
                    let take = try store.hasTake(id) ? store.take(id) : store.makeTake(id)
                    guard try take.lock() else { throw store.inUse(take) }
                    defer { take.unlock() }
                    try take.append(ring)
                    try take.note(ring)
                    for folder in try store.foldersToSync() { try folder.sync() }
                }
            }
        }
    }

    /// Gives a take that was recorded by a killed program the rest of it, which is in its ring.
    ///
    /// Blocks on the disk; the caller has the lock of the take.
    ///
    /// - Throws: `SystemError` when the disk is full: the take waits for room, and so does its ring.
    func complete(_ take: TakeFolder) throws(SystemError) {
        let found = present.flatMap { folder in
            rings(in: folder).filter { $0.id == take.id }.map { (folder, $0.name) }
        }
        for (folder, name) in found {
            var refusal: SystemError?
            // The take is as the disk has it where the ring cannot be read.
            try? claim(name, in: folder) { ring in
                guard take.isRecorded else { return }
                let appended = Result { try take.append(ring) }
                if case .failure(let error as SystemError) = appended, error.isRefusal {
                    refusal = error
                }
                // Also where the disk has the audio already.
                try take.note(ring)
                try appended.get()
            }
            if let refusal { throw refusal }
        }
    }

    private var present: [Folder] {
        paths.compactMap { path in
            // A folder that cannot be opened has no ring of ours.
            Folder.danger(at: path) == nil ? try? Folder.open(at: path + "/rings") : nil
        }
    }

    /// Hands over a ring whose process has ended, and removes it; one of another version stays.
    private func claim(
        _ name: String, in folder: Folder, _ take: (RingRemains) throws -> Void
    ) throws {
        guard let lock = try folder.lockFile(name) else { return }
        defer { withExtendedLifetime(lock) {} }
        let file = try folder.contents(of: name, limit: 1 << 24)
        if let ring = RingRemains(file) {
            try take(ring)
        } else {
            // Its process was killed before there was anything in it.
            guard file.prefix(8).allSatisfy({ $0 == 0 }) else { return }
        }
        try folder.removeFile(name)
    }
}

extension RingRemains {
    /// The manifest of the take, which has the name of the file.
    ///
    /// - Throws: unless it is one that this program would read from the disk, too.
    fileprivate func manifest(of id: TakeID) throws -> TakeManifest {
        let manifest = try JSONDecoder().decode(TakeManifest.self, from: Data(text)).named(id)
        guard manifest.version <= TakeManifest.currentVersion, manifest.isPlausible,
            TakeFolder.audioNames.contains(manifest.audio)
        else { throw SystemError(call: "read the ring of \(id.text)", code: EINVAL) }
        return manifest
    }
}

extension TakeFolder {
    /// Whether a process records it, as far as its manifest says.
    fileprivate var isRecorded: Bool {
        // A manifest that is missing, or cannot be read, is made anew from the audio.
        (try? manifest().state == .recording) ?? true
    }

    /// Writes what is in a ring to its place in the audio, durably; makes what is missing.
    fileprivate func append(_ ring: RingRemains) throws {
        let known = try audioName()
        // The rest has no place behind bytes that were in the memory of the program alone.
        guard ring.offset <= (try known.map(audioByteCount(fileName:)) ?? 0) else { return }
        guard known != nil || !ring.bytes.isEmpty else { return }
        let isNamed = manifestTime != nil
        let manifest = isNamed && known != nil ? nil : try ring.manifest(of: id)
        guard let name = known ?? manifest?.audio else { return }
        if !ring.bytes.isEmpty {
            let audio = makePlainFile(try folder.openOrCreateFile(name))
            try audio.write(ring.bytes.span, at: ring.offset)
            try audio.sync()
        }
        if let manifest, !isNamed { try save(manifest) }
        try folder.sync()
    }

    /// Says which attempts had begun when the program was killed, and whether the take was cancelled.
    fileprivate func note(_ ring: RingRemains) throws {
        var manifest = try manifest()
        addNotedTransfers(to: &manifest)
        guard manifest.attempts < ring.attempts || ring.isCancelled else { return }
        if manifest.attempts < ring.attempts {
            manifest.beginTransfer(ring.attempts, at: id.date ?? Date(), to: manifest.url)
        }
        manifest.isCancelled = ring.isCancelled ? true : nil
        try save(manifest)
    }
}

/// The file of a ring of a take that this process records.
package final class RingFile: Sendable {
    /// For the ring; the file is locked until it goes.
    package let memory: RingMemory
    private let name: Mutex<String?>
    private let rings: RingFolder
    private let folder: Folder

    fileprivate init(
        _ memory: RingMemory, named name: String, by rings: RingFolder, in folder: Folder
    ) {
        (self.memory, self.rings, self.folder) = (memory, rings, folder)
        self.name = Mutex(name)
    }

    /// Gives it the name that its take has on the disk, before the take is there.
    ///
    /// - Parameters:
    ///   - id: the name.
    ///   - isOpened: the disk has answered, and is asked once more, for the spool's folder: the call
    ///     blocks.
    package func rename(to id: TakeID, isOpened: Bool = false) {
        let new = isOpened ? rings.name(of: id, in: rings.folderDigest) : rings.name(of: id)
        name.withLock { name in
            // A name that has the take already may have the folder, too.
            guard let old = name, isOpened || !old.hasSuffix(id.text),
                // A ring that keeps the old name is recovered under it, if the disk has none of the take.
                (try? folder.renameFile(old, to: new, isDurable: false)) != nil
            else { return }
            name = new
        }
    }

    /// Removes it, since the disk has all of it; from any thread.
    package func remove() {
        guard let name = name.withLock({ $0.take() }) else { return }
        // A file that stays is removed by a later look at the takes.
        try? folder.removeFile(name)
    }
}
