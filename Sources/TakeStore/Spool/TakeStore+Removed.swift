// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import Glibc
internal import LinuxPlatform

/// A take that was removed, and can be brought back for a day.
public struct RemovedTake: Sendable {
    /// The take's name.
    public var id: TakeID
    /// When it was removed.
    public var date: Date
}

/// Takes that a person has removed, and may want back: the folder `removed` beside `takes`.
///
/// They do not count as takes anywhere else: not listed, not counted, not sent. Nothing of
/// them is deleted, and no key destroyed, before `destroyRemoved`.
extension TakeStore {
    private static let removedName = "removed"

    /// Moves a take to those that were removed, at once for every process that looks.
    ///
    /// Blocks on the disk. False when that has no room for it, and it is removed for good.
    package func setAside(_ take: TakeFolder) throws(TakeStoreError) -> Bool {
        try lock(take, toBe: "removed")
        do throws(SystemError) {
            try take.refuseForeignFiles()
            // The folder's time says since when it is there.
            try take.folder.touch()
            let removed = try state.makeFolder(Self.removedName)
            try takes.move(take.id.text, to: removed, as: take.id.text)
            return true
        } catch {
            guard [ENOSPC, EDQUOT].contains(error.code) else {
                throw .unchangeable(
                    take: take.id.text, change: "removed", reason: error.description)
            }
            try remove(take)
            return false
        }
    }

    /// The takes that can be brought back, the one removed last at the end.
    package var removed: [RemovedTake] {
        // Without the folder none was removed; what cannot be listed cannot be brought back.
        guard let folder = removedFolder, let names = try? folder.names() else { return [] }
        return names.compactMap { name in
            guard let id = TakeID(name) else { return nil }
            let seconds = folder.modificationTime(of: name) ?? 0
            return RemovedTake(id: id, date: Date(timeIntervalSince1970: seconds))
        }.sorted { ($0.date, $0.id.text) < ($1.date, $1.id.text) }
    }

    /// Finds a removed take by a part of its id; `last` is the one removed last.
    ///
    /// - Throws: `TakeStoreError` when there is no such take, or there are several.
    package func findRemoved(_ name: String) throws(TakeStoreError) -> TakeID {
        // A whole id needs no list: many takes may come back, one after the other.
        if let id = TakeID(name), removedFolder?.modificationTime(of: name) != nil { return id }
        let ids = removed.map(\.id)
        if name == "last", let last = ids.last { return last }
        guard let id = try TakeNames(ids).match(name) else {
            throw .notRemoved(ids.isEmpty ? nil : name)
        }
        return id
    }

    package func restore(_ id: TakeID) throws(TakeStoreError) -> TakeFolder {
        guard let folder = removedFolder else { throw .noSuchTake(id.text) }
        do throws(SystemError) {
            try folder.move(id.text, to: takes, as: id.text)
        } catch {
            guard error.code != ENOENT else { throw .noSuchTake(id.text) }
            throw .unchangeable(take: id.text, change: "brought back", reason: error.description)
        }
        noteReturn(of: id)
        return try take(id)
    }

    /// Deletes removed takes for good, and the keys of encrypted ones; false when there are none.
    ///
    /// Blocks on the disk. A take that cannot be deleted now is left for the next time.
    @discardableResult
    package func destroyRemoved(where isOver: (RemovedTake) -> Bool) -> Bool {
        let over = removed.filter(isOver)
        guard let folder = removedFolder else { return false }
        for take in over {
            let hidden = Self.removedPrefix + take.id.text
            // A kill from here on leaves what the next look at the takes clears away.
            guard (try? folder.move(take.id.text, to: takes, as: hidden)) != nil else { continue }
            finishRemoval(of: take.id, hidden)
        }
        return !over.isEmpty
    }

    func removedByteCount(of id: TakeID) -> Int? {
        removedFolder.flatMap { TakeFolder.audioByteCount(in: $0, id.text) }
    }

    private var removedFolder: Folder? {
        guard state.hasOwnFolder(Self.removedName) else { return nil }
        // A folder that cannot be opened holds nothing that could be had.
        return try? state.openFolder(Self.removedName)
    }
}
