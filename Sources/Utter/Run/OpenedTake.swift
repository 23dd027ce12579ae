// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import TakeStore

/// Where a new take is kept: a folder of the store, or memory when the disk cannot take it.
struct OpenedTake {
    /// The writer of the manifest; nil when the take lives in memory.
    let record: ManifestWriter?
    /// Why the take is not on the disk; nil when it is, or was never meant to be.
    let unprotected: String?
    /// Why the next ones may not be.
    private(set) var warning: String?

    /// On a thread of its own, blocks on the disk, to which it moves the journal; `onSave` is called on
    /// the sync thread when the manifest was written, or could not be.
    init(
        in pipeline: Pipeline, _ manifest: TakeManifest, _ journal: Journal,
        onSave: @escaping @Sendable (SystemError?) -> Void
    ) {
        var reason: String?
        do throws(TakeStoreError) {
            guard let spool = pipeline.spool else { throw .notWanted }
            let store = try spool.store()
            reason = spool.rules.shortage(of: store)?.description
            if reason == nil {
                warning = spool.rules.nearness(of: store)?.warning
                spool.rules.makeRoom(in: store, on: pipeline.sync)
                do throws(SystemError) {
                    // Before the network hears of the take: a program that is killed now leaves more
                    // than its audio.
                    var manifest = manifest
                    let folder = try store.begin(&manifest, in: journal)
                    unprotected = nil
                    record = ManifestWriter(
                        folder: folder, journal: journal, store: store, sync: pipeline.sync,
                        archiver: pipeline.archiver, manifest: manifest,
                        onSave: { [unwritten = pipeline.unwritten, id = manifest.id] error in
                            unwritten.note(id, error) { store.removeIfHollow(folder) }
                            onSave(error)
                        })
                    return
                } catch {
                    reason = error.description
                }
            }
        } catch {
            if error != .notWanted { reason = error.description }
        }
        record = nil
        unprotected = reason
    }
}
