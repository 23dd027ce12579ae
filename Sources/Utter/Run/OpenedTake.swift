// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import LinuxPlatform
internal import TakeStore

/// Where a new take is kept: a folder of the store, or memory when the disk cannot take it.
struct OpenedTake {
    let journal: Journal
    /// The take's folder and manifest; nil when the take lives in memory.
    let record: TakeRecord?
    /// Why the take is not kept on the disk; nil when it is, or was never meant to be.
    let unprotected: String?

    /// Makes the take's folder and its journal.
    ///
    /// On the journal thread; its file operations do not wait for the disk.
    ///
    /// - Parameters:
    ///   - pipeline: whose store and sync thread are used.
    ///   - manifest: what is known of the take when it begins.
    ///   - onSave: called on the sync thread when the manifest was written, or could not be.
    /// - Throws: `SystemError` when not even memory is left.
    init(
        in pipeline: Pipeline, _ manifest: TakeManifest,
        onSave: @escaping @Sendable (SystemError?) -> Void
    ) throws(SystemError) {
        var reason: String?
        switch pipeline.store {
        case .failure(.notWanted): break
        case .failure(let error): reason = error.description
        case .success(let store):
            if let shortage = pipeline.shortage {
                reason = shortage.description
                break
            }
            pipeline.makeRoom()
            do throws(SystemError) {
                var manifest = manifest
                manifest.holder = getpid()
                let folder = try store.makeTake(manifest.id)
                manifest.audio = folder.newAudioName(manifest.audio)
                journal = try Self.makeJournal(manifest.audio, in: folder, of: store)
                // Before the network hears of the take: who is killed now leaves more than its
                // audio. The sync thread makes it durable, and tells when it cannot be written.
                try? folder.save(manifest, isDurable: false)
                record = TakeRecord(
                    folder: folder, journal: journal, store: store,
                    sync: pipeline.sync,
                    manifest: manifest,
                    onSave: { [unwritten = pipeline.unwritten, id = manifest.id] error in
                        unwritten.note(id, error) { store.removeIfHollow(folder) }
                        onSave(error)
                    })
                unprotected = nil
                return
            } catch {
                reason = error.description
            }
        }
        journal = Journal()
        record = nil
        unprotected = reason
    }

    /// The file of the audio; where there is none, no folder is left either.
    private static func makeJournal(
        _ name: String, in folder: TakeFolder, of store: TakeStore
    ) throws(SystemError) -> Journal {
        do throws(SystemError) {
            return try folder.makeJournal(fileName: name)
        } catch {
            store.removeEmptyTake(folder)
            throw error
        }
    }
}
