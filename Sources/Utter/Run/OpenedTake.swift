// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import LinuxPlatform
internal import TakeStore

/// Where a new take is kept: a folder of the store, or memory when the disk cannot take it.
struct OpenedTake {
    let journal: Journal
    /// The writer of the manifest; nil when the take lives in memory.
    let record: ManifestWriter?
    /// Why the take is not on the disk; nil when it is, or was never meant to be.
    let unprotected: String?
    /// Why the next ones may not be.
    private(set) var warning: String?

    /// On a thread of its own, blocks on the disk; `onSave` is called on the sync thread when the
    /// manifest was written, or could not be.
    init(
        in pipeline: Pipeline, _ manifest: TakeManifest,
        onSave: @escaping @Sendable (SystemError?) -> Void
    ) throws(SystemError) {
        var reason: String?
        do throws(TakeStoreError) {
            guard let spool = pipeline.spool else { throw .notWanted }
            let store = try spool.store()
            reason = store.shortage(by: spool.limits)?.description
            if reason == nil {
                warning = store.nearness(to: spool.limits)?.warning
                store.makeRoom(by: spool.limits, on: pipeline.sync)
                do throws(SystemError) {
                    (journal, record) = try Self.make(
                        manifest, in: store, of: pipeline, onSave: onSave)
                    unprotected = nil
                    return
                } catch {
                    reason = error.description
                }
            }
        } catch {
            if error != .notWanted { reason = error.description }
        }
        journal = Journal()
        record = nil
        unprotected = reason
    }

    private static func make(
        _ manifest: TakeManifest, in store: TakeStore, of pipeline: Pipeline,
        onSave: @escaping @Sendable (SystemError?) -> Void
    ) throws(SystemError) -> (Journal, ManifestWriter) {
        var manifest = manifest
        manifest.holder = getpid()
        let folder = try store.makeTake(manifest.id)
        manifest.audio = folder.newAudioName(manifest.audio)
        let journal: Journal
        do throws(SystemError) {
            journal = try folder.makeJournal(fileName: manifest.audio)
        } catch {
            store.removeEmptyTake(folder)
            throw error
        }
        // Before the network hears of the take: a program that is killed now leaves more than its
        // audio. The sync thread makes it durable, and tells when it cannot be written.
        try? folder.save(manifest, isDurable: false)
        let record = ManifestWriter(
            folder: folder, journal: journal, store: store, sync: pipeline.sync,
            archiver: pipeline.archiver, manifest: manifest,
            onSave: { [unwritten = pipeline.unwritten, id = manifest.id] error in
                unwritten.note(id, error) { store.removeIfHollow(folder) }
                onSave(error)
            })
        return (journal, record)
    }
}
