// SPDX-License-Identifier: Apache-2.0

public import TakeStore

/// How takes leave a spool, and come back. All calls block on the disk.
extension Spool {
    /// Removes a take, at once for every process that looks.
    ///
    /// For a day it can be brought back, unless it is removed for good or the disk is short: then the
    /// archive does not get it any more, either.
    ///
    /// - Returns: whether it can be brought back.
    /// - Throws: `TakeStoreError` when there is no such take, another process holds it, or the disk
    ///   refuses.
    @discardableResult
    public func remove(_ id: TakeID, forGood: Bool = false) throws(TakeStoreError) -> Bool {
        let store = try store()
        // A person removes takes from a full disk for their room.
        guard forGood || removesForGood else { return try store.setAside(try store.take(id)) }
        try queue.existing()?.dequeue(id)
        if forGood, store.removed.contains(where: { $0.id == id }) {
            store.destroyRemoved { $0.id == id }
        } else {
            try store.remove(try store.take(id))
        }
        return false
    }

    /// Whether the disk is short, so that nothing that is removed can be brought back.
    package var removesForGood: Bool {
        // Without a store there is nothing to remove.
        (try? existing()).map { rules.isDiskShort(for: $0) } ?? false
    }

    /// The takes that can be brought back, the one removed last at the end; what was removed more
    /// than a day ago is deleted.
    ///
    /// - Throws: `TakeStoreError` when the folder cannot be used.
    public func removedTakes() throws(TakeStoreError) -> [RemovedTake] {
        guard let store = try existing() else { return [] }
        SpoolRules.sweepRemoved(store)
        return store.removed
    }

    /// Finds a removed take by a part of its id; `last` is the one removed last.
    ///
    /// - Throws: `TakeStoreError` when there is no such take, or there are several.
    package func removedTake(_ name: String = "last") throws(TakeStoreError) -> TakeID {
        guard let store = try existing() else { throw .notRemoved(nil) }
        SpoolRules.sweepRemoved(store)
        return try store.findRemoved(name)
    }

    /// Brings a removed take back.
    ///
    /// - Parameter name: a part of its id; `last` is the one removed last.
    /// - Returns: the take as it was.
    /// - Throws: `TakeStoreError` when there is no such take, or there are several.
    @discardableResult
    public func undoRemove(_ name: String = "last") throws(TakeStoreError) -> KeptTake {
        let id = try removedTake(name)
        let store = try store()
        return KeptTake(try store.restore(id).id, in: store, by: SpoolAge(in: store))
    }
}
