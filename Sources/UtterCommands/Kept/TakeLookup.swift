// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
package import Utter

/// Finds takes on the disk for the commands, after bringing crashed ones to an end.
package struct TakeLookup {
    /// Opens those that are encrypted; nil when none was given.
    let key: EncryptionKey?

    /// Looks with a key that was read before.
    init(key: EncryptionKey?) { self.key = key }

    /// Reads the key.
    ///
    /// - Throws: `CommandFailure` when there is to be a key and it cannot be used.
    init(_ encryption: EncryptionOptions) throws(CommandFailure) {
        key = try encryption.source.key()
    }

    /// Opens the store of takes; makes none, whatever room the disk has.
    ///
    /// - Returns: nil when there is none, and so no take.
    /// - Throws: `CommandFailure` when it cannot be used.
    package func store() throws(CommandFailure) -> TakeStore? {
        do throws(TakeStoreError) {
            let store = try TakeStore.existing(stateFolder: Environment.stateFolder, key: key)
            if let store { try Recovery.recoverAll(in: store) }
            return store
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Finds one take by a part of its name, or by `last` or `last~2`.
    ///
    /// - Throws: `CommandFailure` when there is none, or more than one.
    package func take(_ name: String) throws(CommandFailure) -> TakeFolder {
        let store = try store()
        do throws(TakeStoreError) {
            guard let store else { throw .noSuchTake(name) }
            return try store.find(name)
        } catch {
            var failure = CommandFailure(error)
            if case .ambiguous(_, let ids) = error, let store {
                failure.choices = TakeEntry.choices(of: ids, in: store)
            }
            throw failure
        }
    }

    /// Refuses a take whose encrypted part could not be read.
    func checkKey(of manifest: TakeManifest) throws(CommandFailure) {
        guard manifest.isLocked else { return }
        let id = manifest.id.text
        throw CommandFailure(key == nil ? .keyMissing(take: id) : .keyWrong(take: id))
    }

    /// Reads what is known of a take.
    ///
    /// - Throws: `CommandFailure` when it cannot be read.
    package static func manifest(_ take: TakeFolder) throws(CommandFailure) -> TakeManifest {
        do throws(TakeStoreError) {
            return try take.manifest()
        } catch {
            throw CommandFailure(error)
        }
    }

    /// What is known of the takes whose manifest can be read and fulfils a condition, oldest first.
    ///
    /// What cannot be read is shown by `utter list`, and never stops the others. No folder is held
    /// open: there may be more of them than a process may have descriptors.
    ///
    /// - Throws: `CommandFailure` when the store cannot be read.
    package static func takes(
        in store: TakeStore?, where isWanted: (TakeManifest) -> Bool
    ) throws(CommandFailure) -> [TakeManifest] {
        guard let store else { return [] }
        let ids: [TakeID]
        do throws(TakeStoreError) {
            ids = try store.ids()
        } catch {
            throw CommandFailure(error)
        }
        return ids.compactMap { id in
            // The list shows what cannot be read.
            guard let manifest = try? store.take(id).manifest(), isWanted(manifest) else {
                return nil
            }
            return manifest
        }
    }
}
