// SPDX-License-Identifier: Apache-2.0

public import LinuxPlatform
internal import Synchronization

/// All takes on the disk: the folder `takes` of the state folder.
public final class TakeStore: Sendable {
    private let takes: Folder
    /// Whether the names of the folder itself, and of those above it, are durable.
    private let isAnchored = Atomic(false)

    /// Opens the folder of takes, making it when it is missing.
    ///
    /// - Parameter stateFolder: an absolute path, usually `$XDG_STATE_HOME/utter`.
    /// - Throws: `TakeStoreError.folderUnusable`.
    public init(stateFolder: String) throws(TakeStoreError) {
        do throws(SystemError) {
            takes = try Folder.make(at: stateFolder).makeFolder("takes")
        } catch {
            throw .folderUnusable(path: stateFolder, reason: error.description)
        }
    }

    /// The path of the folder of takes.
    public var path: String { takes.path }

    /// Makes the folder of a new take.
    ///
    /// Its name is durable after `sync`.
    ///
    /// It is locked for as long as it is held open.
    public func makeTake(_ id: TakeID) throws(SystemError) -> TakeFolder {
        let take = TakeFolder(id: id, folder: try takes.makeFolder(id.text))
        // Nobody else can know the name yet; a file system without locks is no reason to fail.
        _ = try? take.lock()
        return take
    }

    /// Removes a take with its audio.
    ///
    /// Blocks on the disk. A folder that holds anything unknown stays.
    ///
    /// - Throws: `TakeStoreError.inUse` when another process records or sends it, `.unreadable`
    ///   when it cannot be removed.
    public func remove(_ take: TakeFolder) throws(TakeStoreError) {
        do throws(SystemError) {
            if try take.lock() {
                take.removeFiles()
                try takes.removeFolder(take.id.text)
                try takes.sync()
                return
            }
        } catch {
            throw .unreadable(take: take.id.text, reason: error.description)
        }
        throw .inUse(take: take.id.text)
    }

    /// Removes the folder of a take that captured nothing.
    ///
    /// Blocks on the disk.
    ///
    /// A folder that holds anything unknown stays.
    public func removeEmptyTake(_ take: TakeFolder) {
        take.removeFiles()
        // It stays when something unknown is in it, or when the disk fails: nothing is lost.
        try? takes.removeFolder(take.id.text)
    }

    /// Makes the names of the takes durable, the first time with those of the folders above.
    ///
    /// Blocks on the disk.
    public func sync() throws(SystemError) {
        try takes.sync()
        guard !isAnchored.load(ordering: .relaxed) else { return }
        try takes.syncAncestors()
        isAnchored.store(true, ordering: .relaxed)
    }

    /// The names of all takes, oldest first.
    ///
    /// - Throws: `TakeStoreError.folderUnusable`.
    public func ids() throws(TakeStoreError) -> [TakeID] {
        do throws(SystemError) {
            return try takes.names().compactMap { TakeID($0) }
        } catch {
            throw .folderUnusable(path: takes.path, reason: error.description)
        }
    }

    /// Opens the folder of an existing take.
    ///
    /// - Throws: `TakeStoreError.unreadable`.
    public func take(_ id: TakeID) throws(TakeStoreError) -> TakeFolder {
        do throws(SystemError) {
            return TakeFolder(id: id, folder: try takes.openFolder(id.text))
        } catch {
            throw .unreadable(take: id.text, reason: error.reason)
        }
    }

    /// Finds the one take whose name begins with `prefix`; "last" is the newest.
    ///
    /// - Throws: `TakeStoreError` when there is none, or more than one.
    public func find(_ prefix: String) throws(TakeStoreError) -> TakeFolder {
        let ids = try ids()
        if prefix == "last" {
            guard let newest = ids.last else { throw .noSuchTake(prefix) }
            return try take(newest)
        }
        let found = ids.filter { $0.text.hasPrefix(prefix) }
        guard let id = found.first, !prefix.isEmpty else { throw .noSuchTake(prefix) }
        guard found.count == 1 else { throw .ambiguous(prefix, count: found.count) }
        return try take(id)
    }
}
