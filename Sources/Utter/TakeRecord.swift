// SPDX-License-Identifier: Apache-2.0

internal import AudioCapture
internal import ChunkedUpload
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
    /// Whether the take was empty and is gone: nothing may bring its folder back.
    private let isRemoved = Atomic(false)
    /// Whether the manifest on the disk is the last one that there was to be written.
    private let isSaved = Atomic(false)
    private let onSave: @Sendable (SystemError?) -> Void
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
        sync.perform { [self] in
            guard !isRemoved.load(ordering: .relaxed) else { return }
            do throws(SystemError) {
                // As it is now: of two threads that save at once, the later job may be the one
                // that knows less.
                try folder.save(manifest.withLock { $0 })
                isSaved.store(true, ordering: .relaxed)
                onSave(nil)
            } catch {
                isSaved.store(false, ordering: .relaxed)
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
        sync.perform { [self] in
            // Without the names, the take's own is its place.
            let newest = try? store.ids().last
            manifest.withLock { $0.after = newest.flatMap { $0.text > folder.id.text ? $0 : nil } }
        }
        save { _ in }
        sync.perform { [store, onSave] in
            do throws(SystemError) {
                try store.sync()
            } catch {
                onSave(error)
            }
        }
    }

    /// Notes that a transfer is about to begin, before it does.
    ///
    /// The first of a run is in the manifest that the run began with.
    func beginTransfer(_ number: Int, to url: String) {
        guard manifest.withLock({ $0.attempts < number }) else { return }
        save { $0.beginTransfer(number, at: Date(), to: url) }
    }

    /// Notes how a transfer ended; on the disk with whatever follows it.
    func endTransfer(_ number: Int, _ result: TransferResult) {
        manifest.withLock { manifest in
            manifest.endTransfer(
                number, result.ending.reason, at: Date(), status: result.status,
                wasWhole: Delivery.mayBeTaken(result))
            if Delivery.mayBeTaken(result) { manifest.taken = (manifest.taken ?? 0) + 1 }
        }
    }

    /// Says that the audio is complete, as soon as it is durable itself.
    ///
    /// It is on its way at once if `isSending`.
    func seal(_ seal: JournalSeal, _ account: CaptureAccount, isSending: Bool) {
        sync.perform { [self] in
            let name = manifest.withLock { $0.audio }
            // A manifest that promises more than a power cut leaves would be wrong. What the disk
            // refuses here, it refuses the journal's own sync too, which says so.
            try? folder.syncAudio(fileName: name)
        }
        save { manifest in
            if manifest.state == .recording { manifest.state = isSending ? .sending : .sealed }
            manifest.byteCount = seal.byteCount
            manifest.sha256 = seal.sha256
            manifest.frames = account.encodedFrames
            manifest.gapFrames = account.gapFrames
        }
    }

    /// Writes the take's last state, or removes a take that has no audio.
    func settle(_ outcome: TakeOutcome, _ journal: Journal) {
        if isNew, outcome.account.capturedFrames == 0, case .failure = outcome.result {
            journal.abandon()
            sync.perform { [self] in
                isRemoved.store(true, ordering: .relaxed)
                store.removeEmptyTake(folder)
            }
            return
        }
        save { manifest in
            manifest.taken = outcome.takenCount > 0 ? outcome.takenCount : nil
            switch outcome.result {
            case .success(let transcript):
                manifest.keep(.answered, reason: nil)
                manifest.transcript = transcript.text
            case .failure(.cancelled): manifest.keep(.cancelled, reason: nil)
            case .failure(let failure): manifest.keep(reason: failure.description)
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

    /// Says that nobody needs the audio of an answered take any more: it is deleted, or stays for
    /// the time that `keeping` says.
    func release(_ journal: Journal, keeping retention: Retention) {
        let manifest = manifest.withLock { $0 }
        guard manifest.state == .answered else { return }
        guard retention.audio == .zero else {
            save { $0.isReleased = true }
            return
        }
        sync.perform { [self] in
            // The disk does not know of the answer: the audio is all that is left of the take.
            guard isSaved.load(ordering: .relaxed) else { return }
            journal.abandon()
            // A failure leaves the audio where it is, which loses nothing.
            try? folder.removeAudio(fileName: manifest.audio)
        }
    }
}

extension TransferResult.Ending {
    /// What a take remembers of it.
    fileprivate var reason: String {
        switch self {
        case .answered: "answered"
        case .cancelled: "broken off by utter"
        default: TakeFailure.notDelivered(self, host: "the service").description
        }
    }
}
