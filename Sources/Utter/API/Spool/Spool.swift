// SPDX-License-Identifier: Apache-2.0

public import Cryptography
internal import Synchronization
public import TakeStore

/// The folder in which takes are kept until they are answered; several processes may share one.
///
/// Usable from any thread.
public final class Spool: Sendable {
    /// An absolute path, such as `$XDG_STATE_HOME/utter`.
    public let folder: String
    package let rules: SpoolRules
    private let key: (@Sendable () throws -> EncryptionKey)?
    /// Where the rings of live takes are, but for those that are encrypted.
    let rings: RingFolder
    /// Whether nothing of a take is written in the clear.
    package var encrypts: Bool { key != nil }
    /// The folder, or why its key cannot be had.
    private let opened = Mutex<Result<TakeStore, TakeStoreError>?>(nil)
    private let newest = Mutex<TakeID?>(nil)
    /// Where answered takes are stored, too; nil: nowhere.
    package let archive: Archive?
    private let queued = Mutex<Spool?>(nil)

    /// Names a folder, and touches nothing: it is made and opened when the first take needs it.
    ///
    /// - Parameters:
    ///   - folder: an absolute path.
    ///   - key: gives the key that encrypts takes, when the folder is opened, on a thread that may block:
    ///     a take records meanwhile. Without a key that take lives in memory. Nil keeps takes in the clear.
    ///   - limits: when the disk takes no more of them.
    ///   - retention: how long takes stay that wait for no answer.
    ///   - archive: where those are stored that are answered from now on.
    public init(
        at folder: String, key: (@Sendable () throws -> EncryptionKey)? = nil,
        limits: SpoolLimits = .standard,
        retention: Retention = .standard, archive: Archive? = nil
    ) {
        rings = RingFolder(ofSpool: folder)
        (self.folder, self.key) = (folder, key)
        (rules, self.archive) = (SpoolRules(limits, retention: retention), archive)
    }

    /// The queue of an archive: takes with another service, and the same key.
    package var queue: Spool {
        queued.withLock { queued in
            if let queued { return queued }
            let readKey: @Sendable () throws -> EncryptionKey = { [weak self] in
                // While this one is there, it has a key.
                guard let key = try self?.store().key else { throw TakeStoreError.notWanted }
                return key
            }
            let queue = Spool(at: folder + "/archive", key: encrypts ? readKey : nil)
            queued = queue
            return queue
        }
    }

    /// Whether the archive is still to get a take, in its queue or not yet; blocks on the disk.
    package func isToBeArchived(_ take: KeptTake) -> Bool { isUnqueued(take) || isQueued(take.id) }

    /// Whether the archive is to get a take that is in no queue yet.
    ///
    /// Its audio stays for as long: where that is gone, a killed program has not noted the queue.
    package func isUnqueued(_ take: KeptTake) -> Bool {
        take.known?.isUnarchived == true && take.audioPath != nil && !isQueued(take.id)
    }

    private func isQueued(_ id: TakeID) -> Bool {
        // A take that cannot be looked at is not there, as far as can be said.
        (try? queue.existing())?.hasTake(id) ?? false
    }

    /// The takes on the disk; blocks on the disk.
    ///
    /// A folder that could not be opened is tried again by the next call. For a key that could not be
    /// had a person may have been asked: they are asked again after `forgetRefusal` alone.
    package func store() throws(TakeStoreError) -> TakeStore {
        // Under the lock: another thread that needs it has to wait for the disk, too.
        try opened.withLock { opened throws(TakeStoreError) in
            if let opened { return try opened.get() }
            do throws(TakeStoreError) {
                let store = try TakeStore(stateFolder: folder, key: try readKey(), rings: rings)
                // A folder that cannot be listed is told when a take's folder cannot be made.
                let last = try? store.newestID()
                newest.withLock { $0 = last }
                opened = .success(store)
                return store
            } catch {
                if case .keyUnavailable = error { opened = .failure(error) }
                throw error
            }
        }
    }

    /// Lets the next call ask once more for a key that could not be had; blocks as that does.
    func forgetRefusal() {
        opened.withLock { if case .failure? = $0 { $0 = nil } }
    }

    /// The greatest name of a take when the folder was opened; nil until then.
    var newestID: TakeID? { newest.withLock { $0 } }

    private func readKey() throws(TakeStoreError) -> EncryptionKey? {
        do {
            return try key?()
        } catch {
            throw .keyUnavailable(reason: "\(error)")
        }
    }

    /// Why the disk takes no new take, even if some are deleted, or nil; blocks on the disk.
    package var shortage: SpoolShortage? {
        // Without a folder, another reason is told.
        (try? store()).flatMap { rules.shortage(of: $0) }
    }
}
