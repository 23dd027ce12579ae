// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
package import Utter

/// Finds takes on the disk for the commands; those that are asked for are brought to an end first
/// if their program died.
package struct TakeLookup {
    /// Opens those that are encrypted; nil when none was given.
    let key: EncryptionKey?

    init(key: EncryptionKey?) { self.key = key }

    init(_ encryption: EncryptionOptions) throws(CommandFailure) {
        key = try encryption.source.key()
    }

    /// Opens the store of takes; makes none, whatever room the disk has.
    ///
    /// - Returns: nil when there is none, and so no take.
    package func store() throws(CommandFailure) -> TakeStore? {
        let store = try ofTakes { () throws(TakeStoreError) in
            try TakeStore.existing(stateFolder: Environment.stateFolder, key: key)
        }
        store?.clearLeftovers()
        return store
    }

    /// Finds one take by a part of its name, or by `last` or `last~2`.
    package func take(_ name: String) throws(CommandFailure) -> TakeFolder {
        let store = try store()
        do throws(TakeStoreError) {
            guard let store else { throw .noSuchTake(name) }
            while true {
                let take = try store.find(name)
                Recovery.recover(take.id, in: store)
                // One of which nothing can be played is gone now.
                if store.holds(take) { return take }
            }
        } catch {
            var failure = CommandFailure(error)
            if case .ambiguous(_, let ids) = error, let store {
                failure.choices = TakeEntry.choices(of: ids, in: store)
            }
            throw failure
        }
    }

    func checkKey(of manifest: TakeManifest) throws(CommandFailure) {
        guard manifest.isLocked else { return }
        let id = manifest.id.text
        throw CommandFailure(key == nil ? .keyMissing(take: id) : .keyWrong(take: id))
    }

    package static func manifest(_ take: TakeFolder) throws(CommandFailure) -> TakeManifest {
        try ofTakes { () throws(TakeStoreError) in try take.manifest() }
    }

    /// What is known of the takes whose manifest can be read and fulfils a condition, oldest first.
    ///
    /// What cannot be read is shown by `utter list`, and never stops the others. No folder is held
    /// open: there may be more of them than a process may have descriptors.
    package static func takes(
        in store: TakeStore?, where isWanted: (TakeManifest) -> Bool
    ) throws(CommandFailure) -> [TakeManifest] {
        guard let store else { return [] }
        return try ids(in: store).compactMap { id in
            manifest(id, in: store).flatMap { isWanted($0) ? $0 : nil }
        }
    }

    /// The newest takes that fulfil a condition, newest first; nothing older is looked at.
    ///
    /// `mayBe` says whether one whose program died, or that cannot be read (nil), may fulfil it once it
    /// is recovered.
    static func newest(
        _ count: Int, in store: TakeStore?, where isWanted: (TakeManifest) -> Bool,
        mayBe: (TakeManifest?) -> Bool
    ) throws(CommandFailure) -> [TakeManifest] {
        guard let store else { return [] }
        var found: [TakeManifest] = []
        for id in try ids(in: store).reversed() where found.count < count {
            var take = manifest(id, in: store)
            let isWhole = take?.state != .kept || store.audioByteCount(of: id) != nil
            if take?.isAtRest != true || !isWhole, mayBe(take) {
                Recovery.recover(id, in: store)
                take = manifest(id, in: store)
            }
            if let take, isWanted(take) { found.append(take) }
        }
        return found
    }

    /// All takes that are kept, oldest first, after those were recovered whose program died.
    static func kept(
        in store: TakeStore, tellsRecovery: Bool
    ) throws(CommandFailure) -> [TakeManifest] {
        var dead = 0
        return try ids(in: store).compactMap { id in
            let take = manifest(id, in: store)
            if let take, !take.isWaiting { return nil }
            if take?.state == .kept, store.audioByteCount(of: id) != nil { return take }
            dead += Recovery.recover(id, in: store) ? 1 : 0
            if dead == ListCommand.quickCount, tellsRecovery {
                StandardError.line("recovering recordings whose program ended")
            }
            return manifest(id, in: store).flatMap { $0.state == .kept ? $0 : nil }
        }
    }

    private static func ids(in store: TakeStore) throws(CommandFailure) -> [TakeID] {
        try ofTakes { () throws(TakeStoreError) in try store.ids() }
    }

    private static func manifest(_ id: TakeID, in store: TakeStore) -> TakeManifest? {
        // The list shows what cannot be read.
        try? store.take(id).manifest()
    }
}

/// Makes what is wrong with a take the failure of the command.
func ofTakes<Value>(
    _ body: () throws(TakeStoreError) -> Value
) throws(CommandFailure) -> Value {
    do throws(TakeStoreError) {
        return try body()
    } catch {
        throw CommandFailure(error)
    }
}
