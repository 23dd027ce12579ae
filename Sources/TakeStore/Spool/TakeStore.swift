// SPDX-License-Identifier: Apache-2.0

package import Cryptography
internal import FoundationEssentials
internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// All takes on the disk: the folder `takes` of the state folder.
///
/// Beside it are `removed`, for takes that may be brought back, `quarantine`, for those that cannot
/// be used any more, and small files that can be lost. Calls block on the disk.
package final class TakeStore: Sendable {
    /// A take that is being removed has this before its name; nothing lists it any more.
    static let removedPrefix = ".removed-"
    /// A new take has this before its name until its folder is locked.
    static let unbornPrefix = ".new-"
    static let quarantineName = "quarantine"

    /// Holds `takes` and `quarantine`.
    let state: Folder
    let takes: Folder
    /// The person's key; nil when takes are kept in the clear.
    package let key: EncryptionKey?
    /// Where programs that were killed have left sound; nil is nowhere.
    let rings: RingFolder?
    /// Whether the names of the folder itself, and of those above it, are durable.
    private let isAnchored = Atomic(false)
    /// How many bytes of audio there are more than the note says.
    let growth = Mutex(SpoolGrowth())
    /// Takes whose text this process has handed over, and whose audio is still there.
    let released = Mutex<Set<String>>([])
    /// Whether this process has read the takes that the note does not know.
    let hasReadUnknown = Atomic(false)

    /// Opens the folder of takes, making it when it is missing.
    ///
    /// A folder of ours that others may read is closed to them; one in which others may write, a
    /// symbolic link, or a folder of another user is refused.
    ///
    /// The path is absolute, usually `$XDG_STATE_HOME/utter`. Without a key new takes are kept in the
    /// clear.
    package init(
        stateFolder: String, key: EncryptionKey? = nil, rings: RingFolder? = nil
    ) throws(TakeStoreError) {
        (self.key, self.rings) = (key, rings)
        try Self.refuseDanger(at: stateFolder)
        do throws(SystemError) {
            state = try Folder.make(at: stateFolder)
            try state.closeToOthers()
            takes = try state.makeFolder("takes")
            try takes.closeToOthers()
        } catch {
            throw .folderUnusable(path: stateFolder, reason: error.description)
        }
        guard let key, let salt = key.salt else { return }
        key.salt = note(.passphraseSalt)
        if key.salt == salt { note(salt, as: .passphraseSalt) }
    }

    package static func mayExist(in stateFolder: String) throws(TakeStoreError) -> Bool {
        try refuseDanger(at: stateFolder)
        return Folder.mayExist(at: stateFolder + "/takes")
    }

    private static func refuseDanger(at stateFolder: String) throws(TakeStoreError) {
        for path in [stateFolder, stateFolder + "/takes"] {
            guard let reason = Folder.danger(at: path) else { continue }
            throw .folderUnsafe(path: path, reason: reason)
        }
    }

    package var path: String { takes.path }

    /// Makes the folder of a new take, and moves its journal there, which this process records into.
    ///
    /// The manifest is there when the program is killed; it is durable once it is saved again.
    ///
    /// - Throws: `SystemError`; `EEXIST` when there is such a take.
    package func begin(
        _ manifest: inout TakeManifest, in journal: Journal
    ) throws(SystemError) -> TakeFolder {
        let folder = try makeTake(manifest.id)
        (manifest.holder, manifest.audio) = (getpid(), folder.newAudioName(manifest.audio))
        do throws(SystemError) {
            try folder.makeJournal(fileName: manifest.audio, from: journal)
            // The sync thread makes it durable, and tells when it cannot be written.
            try? folder.save(manifest, isDurable: false)
            return folder
        } catch {
            removeEmptyTake(folder)
            throw error
        }
    }

    /// Makes the folder of a new take.
    ///
    /// Its name is durable once `foldersToSync` are synced. It is locked before it has its name, so
    /// that no recovery takes it for a leftover, and stays so for as long as it is held open.
    ///
    /// - Throws: `SystemError`; `EEXIST` when there is such a take.
    func makeTake(
        _ id: TakeID,
        filledBy fill: (TakeFolder) throws(SystemError) -> Void = { _ throws(SystemError) in }
    ) throws(SystemError) -> TakeFolder {
        TakeFolder(
            id: id,
            folder: try takes.makeLockedFolder(
                id.text, hiddenAs: Self.unbornPrefix + id.text,
                filledBy: { [key] folder throws(SystemError) in
                    try fill(TakeFolder(id: id, folder: folder, key: key))
                }),
            key: key)
    }

    /// Locks a take, which is to be read, or to be changed as the word says.
    ///
    /// - Throws: `TakeStoreError`; `.inUse` when another process has it, and `.noSuchTake` when it is
    ///   not where it was opened any more.
    package func lock(_ take: TakeFolder, toBe change: String? = nil) throws(TakeStoreError) {
        let isLocked: Bool
        do throws(SystemError) {
            isLocked = try take.lock()
        } catch {
            let (id, reason) = (take.id.text, error.description)
            throw change.map { .unchangeable(take: id, change: $0, reason: reason) }
                ?? .unreadable(take: id, reason: reason)
        }
        guard isLocked else { throw inUse(take) }
        // Another process may have been quicker before we had the lock.
        guard holds(take) else { throw .noSuchTake(take.id.text) }
    }

    /// Whether a take is still where it was opened: not removed, and not moved out of the way.
    package func holds(_ take: TakeFolder) -> Bool { take.folder.isStill(take.id.text, in: takes) }

    /// Removes a take with its audio, at once for every process that looks.
    ///
    /// Blocks on the disk. A folder that holds anything unknown stays.
    package func remove(_ take: TakeFolder) throws(TakeStoreError) {
        try lock(take, toBe: "removed")
        do throws(SystemError) {
            try take.refuseForeignFiles()
            let hidden = Self.removedPrefix + take.id.text
            try takes.move(take.id.text, to: takes, as: hidden)
            take.removeFiles()
            try takes.removeFolder(hidden)
        } catch {
            throw .unchangeable(take: take.id.text, change: "removed", reason: error.description)
        }
    }

    func inUse(_ take: TakeFolder) -> TakeStoreError {
        // Without a manifest, less is known.
        let manifest = try? take.manifest()
        return .inUse(
            take: take.id.text, by: manifest?.holder, isSending: manifest?.state == .sending)
    }

    /// Removes the folder of a take that captured nothing.
    package func removeEmptyTake(_ take: TakeFolder) {
        take.removeFiles()
        // It stays when something unknown is in it, or when the disk fails: nothing is lost.
        try? takes.removeFolder(take.id.text)
    }

    /// The folders that are to be synced for the names of the takes to be durable: the first time
    /// those above as well, whose own names may not be.
    func foldersToSync() throws(SystemError) -> [Folder] {
        [takes] + (isAnchored.load(ordering: .relaxed) ? [] : try takes.ancestors())
    }

    func noteSynced() { isAnchored.store(true, ordering: .relaxed) }

    /// Makes the names of the takes durable on the sync thread, where `end` is called.
    package func syncNames(on sync: SyncLoop, end: @escaping @Sendable (SystemError?) -> Void) {
        sync.perform { [self] in
            do throws(SystemError) {
                sync.carryOn(try foldersToSync()[...]) { [self] folders in
                    do throws(SystemError) {
                        try folders.removeFirst().sync()
                        guard folders.isEmpty else { return true }
                        noteSynced()
                        end(nil)
                    } catch {
                        end(error)
                    }
                    return false
                }
            } catch {
                end(error)
            }
        }
    }

    package func ids() throws(TakeStoreError) -> [TakeID] {
        try names().compactMap { TakeID($0) }
    }

    /// The name of the take that began last; nil without takes.
    package func newestID() throws(TakeStoreError) -> TakeID? {
        try names().reversed().lazy.compactMap { TakeID($0) }.first
    }

    /// Names of entries among the takes that are not takes; hidden ones are not listed.
    package func foreignNames() throws(TakeStoreError) -> [String] {
        try names().filter { TakeID($0) == nil && !$0.hasPrefix(".") }
    }

    private func names() throws(TakeStoreError) -> [String] {
        do throws(SystemError) {
            return try takes.names()
        } catch {
            throw .folderUnusable(path: takes.path, reason: error.description)
        }
    }

    package func take(_ id: TakeID) throws(TakeStoreError) -> TakeFolder {
        do throws(SystemError) {
            return TakeFolder(id: id, folder: try takes.openFolder(id.text), key: key)
        } catch {
            guard error.code != ENOENT else { throw .noSuchTake(id.text) }
            throw .unreadable(take: id.text, reason: error.reason)
        }
    }

    /// Finds the one take that a part of a name means (`TakeNames`); `last` is the newest, and
    /// `last~2` the second before it.
    package func find(_ name: String) throws(TakeStoreError) -> TakeFolder {
        let ids = try ids()
        if let steps = TakeNames.stepsBack(name) {
            // A take that could not be filled does not count.
            let found = ids.reversed().lazy.filter { !self.isHollow($0) }.dropFirst(steps).first
            guard let found else { throw .noSuchTake(name) }
            return try take(found)
        }
        guard let id = try TakeNames(ids).match(name) else { throw .noSuchTake(name) }
        return try take(id)
    }
}

/// Small files beside the takes, each of which can be lost without harm.
extension TakeStore {
    package enum Note: String, Sendable {
        /// The origins whose services want the length of a body.
        case lengthOrigins = "length-origins"
        /// The URLs whose services have refused a recording as too large, and how much they take.
        case stretchLimits = "stretch-limits"
        /// The salt with which a passphrase is stretched for new takes, so that all are opened after
        /// one derivation; each take knows its own.
        case passphraseSalt = "passphrase-salt"
        /// The takes that were made of a person's own files, and could not be delivered.
        case takesOfFiles = "takes-of-files"
        /// The takes that have audio; see `AudioNote`.
        case audio = "takes-with-audio"
    }

    /// The note of 100,000 takes with audio.
    private static let noteLimit = 4 << 20

    package func note(_ note: Note) -> [UInt8] {
        // As for all that can be lost.
        (try? state.contents(of: note.rawValue, limit: Self.noteLimit)) ?? []
    }

    /// Replaces a note by what becomes of it; no line of another process that does so is lost.
    ///
    /// Blocks on the disk, and for two seconds at most on that process.
    package func change(_ note: Note, _ body: ([UInt8]) -> [UInt8]) {
        // Without the lock, lines may be lost.
        let own = try? state.openFolder(".")
        _ = try? own?.lock(until: .now + .seconds(2))  // Likewise.
        self.note(body(self.note(note)), as: note)
        own?.unlock()
    }

    /// Blocks on the disk; a failure loses the note.
    func note(_ bytes: [UInt8], as note: Note) {
        // A lost note is found again by the next sweep.
        try? state.replaceFile(note.rawValue, with: bytes)
    }
}
