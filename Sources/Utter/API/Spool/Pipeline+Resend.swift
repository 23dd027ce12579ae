// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import Capture
internal import FoundationEssentials
internal import LinuxPlatform
public import TakeStore

extension Pipeline {
    /// How long a process that only looks at a take may hold its lock.
    private static let lockPatience = Duration.seconds(2)

    /// Sends a take that an earlier run has kept, or sends one that is answered once more.
    ///
    /// A take whose program has died is brought to an end first. The take remembers this plan from
    /// now on. A plan for another service has secrets of its own; those that the take remembers
    /// belong to the origin for which they were given. The take runs whatever becomes of the
    /// calling task.
    ///
    /// - Parameters:
    ///   - take: which one.
    ///   - plan: where it goes and how; nil: where it was meant to go.
    /// - Returns: the take under its old name.
    /// - Throws: `TakeStoreError` when there is no such take, its audio is gone or cannot be read, it
    ///   does not remember where it was meant to go, or another process holds it.
    public func resend(
        _ take: KeptTake, by plan: DeliveryPlan? = nil
    ) async throws(TakeStoreError) -> Take {
        if let plan { return try await resend(take.id, by: plan) }
        return try await resend(take.id, by: DeliveryPlan(of: take))
    }

    /// Sends kept takes, some at a time, and tells how each ended, in the order given.
    ///
    /// A service that cannot be reached, or refuses its token, is sent no more of them. Nothing is
    /// sent before the endings are asked for.
    ///
    /// - Parameters:
    ///   - takes: which ones, such as those of `Spool.takes(where: .due)`.
    ///   - jobs: how many are sent at a time.
    ///   - plan: where each goes and how; by default where it was meant to go. Only the first of
    ///     its pauses after the release counts: other takes wait.
    /// - Returns: the endings, for one listener.
    public func resend(
        _ takes: [KeptTake], jobs: Int = 4,
        by plan: @escaping @Sendable (KeptTake) throws(TakeStoreError) -> DeliveryPlan = {
            take throws(TakeStoreError) in try DeliveryPlan(of: take)
        }
    ) -> ResendBatch {
        ResendBatch(takes, jobs: max(1, jobs), by: plan, in: self)
    }

    /// Opens a take of the pipeline's spool, or of its archive's queue, on a thread of its own and
    /// sends it; waits a moment for the take's lock while another process looks at the take.
    package func resend(
        _ id: TakeID, of queue: Spool? = nil, by plan: DeliveryPlan,
        ifStillAfter attempts: Int? = nil
    ) async throws(TakeStoreError) -> Take {
        let deadline = ContinuousClock.now + Self.lockPatience
        let folder = try await Self.onThread { [self] () throws(TakeStoreError) in
            guard let spool = queue ?? spool else { throw .notWanted }
            let store = try spool.store()
            store.recover(id)
            return try store.take(id)
        }
        while true {
            do throws(TakeStoreError) {
                return try await Self.onThread { [self] () throws(TakeStoreError) in
                    try resend(folder, of: queue, by: plan, ifStillAfter: attempts)
                }
            } catch {
                guard case .inUse(_, _, isSending: false) = error, deadline > .now,
                    await folder.isFree(by: deadline)
                else { throw error }
            }
        }
    }

    private static func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(TakeStoreError) -> Value
    ) async throws(TakeStoreError) -> Value {
        let result: Result<Value, TakeStoreError>
        do throws(SystemError) {
            result = try await NamedThread.result(name: "open", of: body)
        } catch {
            throw .folderUnusable(path: "takes", reason: error.description)
        }
        return try result.get()
    }

    /// Sends a take that an earlier run has kept, in the form that the plan says.
    ///
    /// Blocks on the disk, and for the codec when the form is another than that of the recording.
    /// The take remembers this plan from now on. `attempts` were known when the caller decided to
    /// send the take: it is left alone if another process has sent, answered or cancelled it since.
    /// The queue is the archive's.
    func resend(
        _ folder: TakeFolder, of queue: Spool? = nil, by plan: DeliveryPlan,
        ifStillAfter attempts: Int? = nil
    ) throws(TakeStoreError) -> Take {
        guard let spool = queue ?? spool else { throw .notWanted }
        guard !isOver else {
            throw .folderUnusable(path: "takes", reason: "the pipeline has been shut down")
        }
        let store = try spool.store()
        try store.lock(folder)
        var manifest = try folder.manifest()
        if let attempts, !manifest.isWaiting || manifest.attempts != attempts {
            throw .notWaiting(take: folder.id.text)
        }
        var plan = plan
        let content =
            if let suffix = manifest.archivedSuffix {
                try folder.object(suffix, of: manifest, by: &plan)
            } else {
                try folder.recording(of: &manifest, by: &plan)
            }
        let (journal, frames) = (content.journal, content.frames)
        var digest = content.digest
        if digest == nil {
            digest = try folder.reading { () throws(SystemError) in try journal.sha256() }
        }
        let seal = JournalSeal(byteCount: journal.byteCount, sha256: digest ?? "", loss: nil)
        var bodyDigest: String?
        // That of an encrypted body is known with its key.
        if !content.isMadeAnew, plan.service.bodyKey?.isKnown != false {
            bodyDigest = try folder.reading { () throws(SystemError) in
                try plan.body(of: journal, frames: frames, of: folder.id).contentDigest()
            }
        }
        let account = CaptureAccount(
            encodedFrames: frames, gapFrames: content.gapFrames,
            encodedBytes: journal.byteCount,
            powers: plan.cutsStretches ? PowerTrack(from: manifest.progress) : nil)
        let wantsSecrets = plan.service.lacksSecrets
        let token = wantsSecrets ? nil : tokens.token(for: plan.service)
        let exchange = plan.makeExchange(
            from: manifest.progress, knowing: traits(of: plan.service),
            attemptsBefore: manifest.attempts, takenBefore: manifest.taken ?? 0,
            hasToken: token != nil)
        let way = plan.way(by: exchange, digest: bodyDigest)
        let run = TakeRun(
            id: folder.id, plan: plan,
            machine: TakeMachine(way, recorded: seal, wantsSecrets: wantsSecrets),
            pipeline: self, account: account,
            audioPath: journal === content.file ? nil : content.file.path, token: token)
        manifest.resend(
            to: plan.service.url.description, by: plan.record,
            from: exchange.progress?.noting(account.powers))
        let first = exchange.request
        let unsendable = plan.limitFailure(
            frames: frames, byteCount: journal.byteCount)
        if !wantsSecrets, !first.isForToken, unsendable == nil {
            manifest.beginTransfer(first.number, at: Date(), to: first.shownURL)
        }
        // Before the first byte leaves, so that a recovery knows that the take may have been
        // sent. A full disk is no reason not to send what fills it.
        try? folder.save(manifest)
        let record = ManifestWriter(
            folder: folder, journal: content.file, isNew: false, store: store, sync: sync,
            archiver: queue == nil ? archiver : nil, manifest: manifest,
            onSave: { [unwritten] in unwritten.note(folder.id, $0) })
        for report in content.reports { run.handle(.protection(.damage(report))) }
        if let flaw = content.flaw { run.handle(.protection(.source(flaw))) }
        began(run)
        run.hold(journal)
        run.hold(record)
        run.didComplete()
        if let unsendable { run.handle(.unsendable(unsendable)) }
        run.handle(.opened(nil))
        return Take(run: run)
    }
}
