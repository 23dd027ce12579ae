// SPDX-License-Identifier: Apache-2.0

internal import AudioCapture
internal import AudioEncoding
internal import ChunkedUpload
internal import FoundationEssentials
internal import Glibc
public import LinuxPlatform
internal import Synchronization
public import TakeStore

/// The loops that carry any number of takes: capture, journal, transfer, and sync beside them.
///
/// This is the composition root: `start` joins the stages of one take in the order in which
/// its samples meet them.
public final class Pipeline: Sendable {
    private let loops: PipelineLoops
    /// When the disk takes no more.
    public let limits: SpoolLimits
    let retention: Retention
    /// The takes on the disk, or why there are none.
    public let store: Result<TakeStore, TakeStoreError>

    /// The takes whose end could not be written down; complete after `shutDown`.
    public let unwritten = UnwrittenTakes()

    /// Starts the loops.
    ///
    /// - Parameters:
    ///   - stateFolder: where takes are kept, an absolute path; when it cannot be used, takes live
    ///     in memory and say so. With nil they live in memory on purpose, and nothing ever touches
    ///     the disk.
    ///   - limits: when the disk takes no more of them.
    ///   - retention: how long takes stay that nobody waits for.
    ///   - key: encrypts takes on the disk; with nil they are kept in the clear.
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    public convenience init(
        stateFolder: String?, limits: SpoolLimits = .standard, retention: Retention = .standard,
        key: EncryptionKey? = nil
    ) throws(SystemError) {
        self.init(
            stateFolder: stateFolder, loops: try PipelineLoops(), limits: limits,
            retention: retention, key: key)
    }

    /// Joins loops that run already with the folder of the takes.
    ///
    /// - Parameters:
    ///   - stateFolder: as above.
    ///   - loops: used by this pipeline alone, which ends them.
    ///   - limits: as above.
    ///   - retention: as above.
    ///   - key: as above.
    public init(
        stateFolder: String?, loops: PipelineLoops, limits: SpoolLimits = .standard,
        retention: Retention = .standard, key: EncryptionKey? = nil
    ) {
        self.loops = loops
        self.limits = limits
        self.retention = retention
        store = Result { () throws(TakeStoreError) in
            guard let stateFolder else { throw .notWanted }
            return try TakeStore(stateFolder: stateFolder, key: key)
        }
    }

    /// The takes that have no outcome yet.
    private let running = Mutex<[TakeRun]>([])

    var capture: CaptureLoop { loops.capture }
    var journal: JournalLoop { loops.journal }
    var transfer: TransferLoop { loops.transfer }
    var sync: SyncLoop { loops.sync }

    /// Starts a take: the source is opened at once, in parallel with the connection.
    ///
    /// From any thread; does not block. What goes wrong is the take's outcome.
    public func start(_ plan: TakePlan) -> Take {
        var generator = SystemRandomNumberGenerator()
        let run = TakeRun(
            id: TakeID(at: Date(), using: &generator), plan: plan.delivery, pipeline: self)
        began(run)
        run.record(plan.source, plan.capture)
        return Take(run: run)
    }

    /// Sends a take that an earlier run has kept; it travels in the format it was recorded in.
    ///
    /// From any thread; blocks on the disk.
    ///
    /// - Returns: the take under its old name.
    /// - Throws: `TakeStoreError` when there is no such take, or its audio is gone.
    public func resend(
        _ folder: TakeFolder, by plan: DeliveryPlan
    ) throws(TakeStoreError) -> Take {
        let store = try store.get()
        guard try folder.isOurs() else { throw store.inUse(folder) }
        guard store.holds(folder) else { throw .noSuchTake(folder.id.text) }
        var manifest = try folder.manifest()
        guard let stated = manifest.byteCount,
            let format = AudioFormat(rawValue: manifest.format)
        else { throw .unreadable(take: folder.id.text, reason: "its audio is not complete") }
        let audio = try folder.openAudio(of: manifest)
        // A take whose end the disk refused ends before the length that was recorded.
        let byteCount = min(stated, audio.byteCount)
        let journal = audio.journal(byteCount: byteCount)
        // What is sent now is not what was recorded then, when a part of it is silent.
        let sha256 = try audio.damage.isEmpty ? manifest.sha256 ?? "" : folder.hash(journal)
        let bodyDigest = try folder.hash(journal, from: format.bodyOffset)
        var plan = plan
        plan.format = format
        let account = CaptureAccount(
            encodedFrames: manifest.frames ?? 0, gapFrames: manifest.gapFrames ?? 0,
            encodedBytes: byteCount)
        let run = TakeRun(
            id: folder.id, plan: plan, pipeline: self, account: account,
            attemptsBefore: manifest.attempts, takenBefore: manifest.taken ?? 0)
        manifest.state = .sending
        manifest.holder = getpid()
        manifest.reason = nil
        manifest.beginTransfer(
            manifest.attempts + 1, at: Date(), to: plan.service.url.description)
        // Before the first byte leaves, so that whoever finds the take knows that it may have been
        // sent. A full disk is no reason not to send what fills it.
        try? folder.save(manifest)
        let record = TakeRecord(
            folder: folder, journal: journal, isNew: false, store: store, sync: sync,
            manifest: manifest,
            onSave: { [unwritten] in unwritten.note(folder.id, $0) })
        if let report = audio.damageReport { run.note(damage: report) }
        began(run)
        run.resend(
            journal, of: record,
            seal: JournalSeal(byteCount: byteCount, sha256: sha256, loss: nil),
            bodyDigest: bodyDigest)
        return Take(run: run)
    }

    /// Waits until the disk has what it was given so far: a take whose outcome is known is
    /// unlocked then, and can be sent again.
    public func settled() async {
        await withCheckedContinuation { continuation in
            sync.perform { continuation.resume() }
        }
    }

    /// Deletes what is over its time on the disk, and measures the rest, on the sync thread.
    ///
    /// From any thread; does not block.
    public func sweep() {
        guard case .success(let store) = store else { return }
        sync.perform { [retention] in
            retention.sweep(store)
            store.measure()
        }
    }

    /// Ends the loops and waits for them, the disk included.
    ///
    /// Takes that still run are abandoned where they are, and their outcome is `left`; what they
    /// captured stays in their journals, and the next recovery brings them to an end.
    public func shutDown() {
        loops.shutDown()
        for run in running.withLock({ $0 }) {
            run.finish(.failure(.left), capture: CaptureEnd(cause: .cancelled))
        }
    }

    /// Remembers a take whose outcome somebody may wait for.
    private func began(_ run: TakeRun) {
        running.withLock { $0.append(run) }
    }

    /// Forgets a take that has its outcome.
    func ended(_ run: TakeRun) {
        running.withLock { $0 = $0.filter { $0 !== run } }
    }
}

extension TakeFolder {
    /// Hashes a journal of this take.
    fileprivate func hash(
        _ journal: Journal, from offset: Int = 0
    ) throws(TakeStoreError) -> String {
        do throws(SystemError) {
            return try journal.sha256(from: offset)
        } catch {
            throw .unreadable(take: id.text, reason: "its audio: \(error.reason)")
        }
    }

    /// Locks the take; false when another process has.
    fileprivate func isOurs() throws(TakeStoreError) -> Bool {
        do throws(SystemError) {
            return try lock()
        } catch {
            throw .unreadable(take: id.text, reason: error.description)
        }
    }
}
