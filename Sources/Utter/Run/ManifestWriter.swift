// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import FoundationEssentials
internal import LinuxPlatform
internal import SpeechService
internal import Synchronization
internal import TakeStore
internal import Upload

/// A take's folder and manifest, which the sync thread writes.
///
/// From any thread; only jobs of the sync thread wait for the disk.
final class ManifestWriter: Sendable {
    private struct Present {
        var manifest: TakeManifest
        var version = 0
        /// The first version at rest.
        var restVersion: Int?
    }

    private let folder: TakeFolder
    private let journal: Journal
    /// Whether this run records the take, and removes it when it is empty.
    private let isNew: Bool
    private let store: TakeStore
    private let sync: SyncLoop
    /// The archiver; nil when the take is for no archive.
    private let archiver: Archiver?
    private let present: Mutex<Present>
    /// The version of the manifest on the disk; used by the sync thread alone.
    private let savedVersion = Atomic(-1)
    /// The take has ended, and its folder waits to be unlocked.
    private let isEnded = Atomic(false)
    /// The take was empty and is gone: nothing may make its folder again.
    private let isRemoved = Atomic(false)
    /// The name of a new take is durable, or cannot be.
    private let isNamed = Atomic(true)
    private let onSave: @Sendable (SystemError?) -> Void
    /// When to write again what could not be written; nil for nothing.
    private let retriesAt = Mutex<ContinuousClock.Instant?>(nil)
    private let failure = Mutex<SystemError?>(nil)

    /// For a take whose folder exists, and whose audio is in the journal.
    ///
    /// `onSave` is called on the sync thread after each write of the manifest.
    init(
        folder: TakeFolder, journal: Journal, isNew: Bool = true, store: TakeStore,
        sync: SyncLoop, archiver: Archiver? = nil,
        manifest: TakeManifest, onSave: @escaping @Sendable (SystemError?) -> Void
    ) {
        (self.folder, self.journal, self.isNew) = (folder, journal, isNew)
        (self.store, self.sync, self.archiver) = (store, sync, archiver)
        present = Mutex(Present(manifest: manifest))
        self.onSave = onSave
    }

    func save(_ change: (inout TakeManifest) -> Void) {
        present.withLock { present in
            change(&present.manifest)
            present.version += 1
            if present.restVersion == nil, present.manifest.isAtRest {
                present.restVersion = present.version
            }
        }
        sync.perform { [self] in write() }
    }

    /// Writes the manifest, unless the disk has this version: of several waiting jobs the first
    /// does all; on the sync thread.
    private func write() {
        guard !isRemoved.load(ordering: .relaxed) else { return }
        var (manifest, version) = present.withLock { ($0.manifest, $0.version) }
        guard savedVersion.load(ordering: .relaxed) != version else { return }
        // A manifest that promises more than a power cut leaves would be wrong.
        if !journal.isSettled { manifest.forgetSeal() }
        do throws(SystemError) {
            try folder.save(manifest)
            savedVersion.store(version, ordering: .relaxed)
            note(nil)
        } catch {
            savedVersion.store(-1, ordering: .relaxed)
            note(error)
        }
    }

    private func note(_ error: SystemError?) {
        retriesAt.withLock { $0 = error == nil ? nil : .now + .seconds(1) }
        failure.withLock { $0 = error }
        onSave(error)
    }

    /// Whether the disk has the take's outcome; on the sync thread.
    private var isSettledOnDisk: Bool {
        guard let version = present.withLock({ $0.restVersion }) else { return false }
        return savedVersion.load(ordering: .relaxed) >= version
    }

    enum Safety: Sendable {
        case durable
        case unconfirmed
        case refused(reason: String)
    }

    /// Calls `tell` on the sync thread, once the disk has the take's name; from any thread.
    func tellSafety(_ tell: @escaping @Sendable (Safety) -> Void) {
        sync.perform { [self] in
            // Each of the names has a job of its own, behind which this one goes.
            isNamed.load(ordering: .relaxed) ? tell(safety) : tellSafety(tell)
        }
    }

    private var safety: Safety {
        if journal.isSettled, isSettledOnDisk { return .durable }
        return (journal.condition.failure ?? failure.withLock { $0 })
            .map { .refused(reason: $0.description) } ?? .unconfirmed
    }

    /// Writes the manifest a second after it could not be written.
    func writeAgain() {
        let isDue = retriesAt.withLock { instant in
            guard let due = instant, due <= .now else { return false }
            instant = nil
            return true
        }
        if isDue { save { _ in } }
    }

    var isStale: Bool { retriesAt.withLock { $0 != nil } }

    /// Writes again what could not be written; on the sync thread.
    func finish() {
        guard isStale else { return }
        present.withLock { $0.version += 1 }
        write()
    }

    func announce() {
        isNamed.store(false, ordering: .relaxed)
        // Before the names: without the key in an encrypted file they are worth nothing.
        sync.perform { [journal] in journal.finish() }
        save { _ in }
        store.syncNames(on: sync) { [self] error in
            if let error { note(error) }
            isNamed.store(true, ordering: .relaxed)
        }
    }

    /// Whether the manifest of the earlier run says that this attempt begins.
    func knows(of attempt: Int) -> Bool {
        present.withLock { $0.manifest.attempts >= attempt }
    }

    /// Writes which transfers have begun to a small file without `fsync`, which may take seconds.
    func saveTransfers() {
        // A full disk is no reason not to send. The sync thread tells when it cannot be written.
        try? folder.noteTransfers(of: present.withLock { $0.manifest })
        save { _ in }
    }

    /// Writes an unreadable answer beside the audio; the manifest says so, and whether another rule
    /// may read it.
    func keep(answer: [UInt8], isWhole: Bool) {
        sync.perform { [self] in
            guard !isRemoved.load(ordering: .relaxed) else { return }
            let isEncrypted = present.withLock { $0.manifest.isEncrypted }
            // The answer of a disk without room is lost; the take is not.
            guard let name = try? folder.keepAnswer(answer, isEncrypted: isEncrypted) else {
                return
            }
            save { $0.keepAnswer(in: name, isWhole: isWhole) }
        }
    }

    /// Changes the manifest, which is written with what follows.
    func note(_ change: (inout TakeManifest) -> Void) {
        present.withLock { change(&$0.manifest) }
    }

    /// The audio is complete; written as soon as it is durable.
    func seal(_ seal: JournalSeal, _ account: CaptureAccount, _ end: CaptureEnd, isSending: Bool) {
        // Not by the file's name: only the journal knows whether that file can be trusted.
        sync.perform { [journal] in journal.finish() }
        store.hasGrown(by: seal.byteCount)
        save {
            $0.seal(
                seal, frames: account.encodedFrames, gapFrames: account.gapFrames,
                isWhole: end.isWhole, flaw: end.warning, isSending: isSending)
        }
    }

    func settle(_ outcome: TakeOutcome) {
        if isNew, outcome.account.capturedFrames == 0, case .failure = outcome.result {
            journal.abandon()
            sync.perform { [self] in
                isRemoved.store(true, ordering: .relaxed)
                store.removeEmptyTake(folder)
            }
            return
        }
        answer(outcome)
        sync.perform { [self] in
            // No transfer follows any more.
            if isSettledOnDisk { folder.forgetNotedTransfers() }
            journal.finish()
            let isForArchive = enqueue()
            isEnded.store(true, ordering: .relaxed)
            unlockOnceSettled()
            // A take that has found no place in the queue is tried once more there, and told.
            if isForArchive { archiver?.begin() }
        }
    }

    /// Writes how the take has ended.
    func answer(_ outcome: TakeOutcome) {
        save { [archiver] manifest in
            manifest.count(
                taken: outcome.takenCount, peak: outcome.peakDecibels.map { Double($0) })
            switch outcome.result {
            case .success(let words):
                let isPart =
                    manifest.wasAnswered == true
                    && outcome.account.encodedFrames < manifest.frames ?? 0
                let lack = "the disk has a part of its audio only"
                manifest.answer(
                    words.text, in: words.language, raw: words.raw, changes: words.changes,
                    note: outcome.isStored ? "stored" : nil,
                    shortfall: outcome.shortfall ?? (isPart ? lack : nil),
                    story: outcome.story)
            case .failure(let failure):
                manifest.fail(
                    failure.description, isUnwanted: failure.isUnwanted,
                    isForGood: failure.isForGood, isOfAnswer: failure.isOfAnswer,
                    mayBeTheTakes: failure.mayBeTheTakes, story: outcome.story)
            }
            guard manifest.state == .answered, manifest.archive == nil,
                let place = archiver?.place(for: manifest)
            else { return }
            manifest.promise(toArchiveAt: place)
        }
    }

    /// Puts an answered take into the queue of the archive, before its audio may go; false when it is
    /// not to go there; on the sync thread.
    private func enqueue() -> Bool {
        let manifest = present.withLock { $0.manifest }
        guard manifest.isUnarchived, let archiver else { return false }
        if journal.isSettled, isSettledOnDisk, archiver.enqueue(manifest, of: folder) {
            save { $0.noteQueue() }
        }
        return true
    }

    /// Unlocks an ended take for other processes, once the disk holds all of it; on the sync
    /// thread.
    func unlockOnceSettled() {
        guard isEnded.load(ordering: .relaxed), journal.isSettled else { return }
        folder.unlock()
    }

    /// The transcript was handed over: deletes the audio, or keeps it for a time, which is noted
    /// when it is not the usual one; false when the audio goes.
    func release(keeping usual: Duration, _ time: Duration?) -> Bool {
        let manifest = present.withLock { $0.manifest }
        guard manifest.state == .answered else { return true }
        guard (time ?? usual) == .zero else {
            save { $0.release(keepingAudioFor: time.map { Int($0.components.seconds) }) }
            return true
        }
        sync.perform { [self] in
            // The disk does not know of the answer: the audio is all that is left of the take.
            guard isSettledOnDisk else { return }
            // The next sweep sees to it, once the archive's queue has it.
            guard !present.withLock({ $0.manifest.isUnarchived }) else {
                return save { $0.release(keepingAudioFor: 0) }
            }
            journal.abandon()
            // A failure leaves the audio where it is, which loses nothing.
            try? folder.removeAudio(fileName: manifest.audio)
        }
        return false
    }
}

extension TransferResult.Ending {
    var reason: String {
        switch self {
        case .answered: "answered"
        case .cancelled: "broken off by utter"
        default: TakeFailure.notDelivered(self, host: "the service").description
        }
    }
}
