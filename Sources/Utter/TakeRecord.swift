// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LinuxPlatform
internal import SpeechService
internal import Synchronization
internal import TakeStore

/// What the disk knows of one take: its folder and manifest, written by the sync thread.
///
/// Usable from any thread; only jobs of the sync thread wait for the disk.
final class TakeRecord: Sendable {
    private let folder: TakeFolder
    /// Whether this run has recorded the take.
    private let isNew: Bool
    private let store: TakeStore
    private let sync: SyncLoop
    private let manifest: Mutex<TakeManifest>
    /// Whether the take has ended, and its folder waits for the disk to be unlocked.
    private let isEnded = Atomic(false)
    private let onSave: @Sendable (SystemError?) -> Void
    /// Whether a job that writes the manifest waits to begin.
    private let isSaving = Atomic(false)
    private let savesAgainAt = Mutex(ContinuousClock.now)

    /// Keeps the record of a take whose folder exists.
    ///
    /// Only a take that this run records (`isNew`) is removed when it turns out to be empty.
    /// `onSave` is called on the sync thread when the manifest was written, or could not be.
    init(
        folder: TakeFolder, isNew: Bool, store: TakeStore, sync: SyncLoop,
        manifest: TakeManifest, onSave: @escaping @Sendable (SystemError?) -> Void
    ) {
        self.folder = folder
        self.isNew = isNew
        self.store = store
        self.sync = sync
        self.manifest = Mutex(manifest)
        self.onSave = onSave
    }

    /// Changes the manifest and has it written.
    func save(_ change: (inout TakeManifest) -> Void) {
        manifest.withLock { change(&$0) }
        // A job that has not begun will write this change too.
        guard !isSaving.exchange(true, ordering: .acquiringAndReleasing) else { return }
        sync.perform { [self] in
            // Taken back before the manifest is read: partner of the exchange above.
            isSaving.store(false, ordering: .sequentiallyConsistent)
            do throws(SystemError) {
                // As it is now: of two threads that save at once, the later job may be the one
                // that knows less.
                try folder.save(manifest.withLock { $0 })
                onSave(nil)
            } catch {
                onSave(error)
            }
        }
    }

    /// Has the manifest written that could not be written before, once a second.
    func saveAgain() {
        let isDue = savesAgainAt.withLock { instant in
            guard instant <= .now else { return false }
            instant = .now + .seconds(1)
            return true
        }
        if isDue { save { _ in } }
    }

    /// Makes the name of a new take durable.
    func announce() {
        save { _ in }
        sync.perform { [store, onSave] in
            do throws(SystemError) {
                try store.sync()
            } catch {
                onSave(error)
            }
        }
    }

    /// Writes the take's last state, or removes a take that has no audio.
    func settle(_ outcome: TakeOutcome, _ journal: Journal) {
        if isNew, outcome.account.capturedFrames == 0, case .failure = outcome.result {
            journal.abandon()
            sync.perform { [store, folder] in store.removeEmptyTake(folder) }
            return
        }
        save { manifest in
            manifest.attempts += outcome.attempts.count
            switch outcome.result {
            case .success(let transcript):
                manifest.state = .answered
                manifest.transcript = transcript.text
                manifest.reason = nil
            case .failure(.cancelled):
                manifest.state = .cancelled
            case .failure(let failure):
                manifest.state = .kept
                manifest.reason = failure.description
            }
        }
        sync.perform { [self] in
            journal.finish()
            isEnded.store(true, ordering: .relaxed)
            unlock(onceSettled: journal)
        }
    }

    /// Lets other processes send the take, once it has ended and the disk holds all of it.
    ///
    /// On the sync thread.
    func unlock(onceSettled journal: Journal) {
        guard isEnded.load(ordering: .relaxed), journal.isSettled else { return }
        folder.unlock()
    }

    /// Deletes the audio of a take that has been answered.
    func release(_ journal: Journal) {
        let manifest = manifest.withLock { $0 }
        guard manifest.state == .answered else { return }
        journal.abandon()
        sync.perform { [folder] in
            // A failure leaves the audio where it is, which loses nothing.
            try? folder.removeAudio(fileName: manifest.audio)
        }
    }
}
