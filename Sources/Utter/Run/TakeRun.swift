// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import Capture
internal import FoundationEssentials
internal import Glibc
internal import LinuxPlatform
internal import SpeechService
internal import Synchronization
internal import TakeStore
internal import Upload

/// One take while it runs: joins the stages, and gathers what they say into the outcome.
///
/// Called on every loop's thread. The state's lock covers assignments, never calls into loops.
final class TakeRun: Sendable {
    let id: TakeID
    let events: AsyncStream<TakeEvent>
    let plan: DeliveryPlan
    private let isCompleteSoon: Bool
    let pipeline: Pipeline
    let continuation: AsyncStream<TakeEvent>.Continuation
    private let control = CaptureControl()
    let began = ContinuousClock.now
    private let account: CaptureAccount
    let sentByteCount = Atomic(0)
    let state: Mutex<TakeState>
    private let settlement = Settlement<TakeOutcome>()

    /// Prepares a take.
    ///
    /// The account is that of what an earlier run has recorded and tried to deliver, or empty.
    init(
        id: TakeID, plan: DeliveryPlan, pipeline: Pipeline,
        account: CaptureAccount = CaptureAccount(), attemptsBefore: Int = 0, takenBefore: Int = 0,
        isCompleteSoon: Bool = false
    ) {
        self.id = id
        self.plan = plan
        self.isCompleteSoon = isCompleteSoon
        self.account = account
        self.pipeline = pipeline
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
        state = Mutex(
            TakeState(
                delivery: Delivery(
                    url: plan.service.requestURL, allowed: plan.redirectOrigins, policy: plan.retry,
                    attemptsBefore: attemptsBefore, takenBefore: takenBefore,
                    framing: plan.framing,
                    wantsLength: plan.framing == .auto
                        && (isCompleteSoon
                            || pipeline.lengthOrigins.contains(plan.service.url.origin)),
                    detectsEnd: plan.service.detectsEnd,
                    redact: { [service = plan.service] in service.redacted($0) })))
    }

    // MARK: - Joining the stages

    /// Source → encoder → ring → journal → request body → response.
    func record(_ source: any CaptureSource, _ capture: CapturePlan) {
        let ring = ByteRing(minimumCapacity: plan.format.ringByteCount)
        do throws(EncodingError) {
            pipeline.capture.add(
                CaptureStage(
                    source: source, encoder: try plan.format.makeEncoder(),
                    producer: ring.takeProducer(), plan: capture, control: control,
                    account: account, onOpen: { [self] in didOpen(source.name, $0) },
                    onEnd: { [self] in didCapture($0) }))
        } catch {
            finish(.failure(.encoding(error)), capture: CaptureEnd(cause: .encoder(error)))
            return
        }
        pipeline.journal.add(
            ring: ring.takeConsumer(), open: { [self] in openJournal(source.name) },
            onGrowth: { [self] in didGrow() }, onDrain: { [pipeline] in pipeline.capture.wake() },
            onFull: { [self] in stop(cutShort: true) },
            onSeal: { [self] in didEnd($0) })
    }

    /// The sealed journal of an earlier run → request body → response.
    ///
    /// `audioPath` is the file from which the journal was made, when it is not that file itself.
    func resend(
        _ journal: Journal, of record: TakeRecord, seal: JournalSeal, bodyDigest: String,
        audioPath: String?
    ) {
        state.withLock { state in
            state.record = record
            state.journal = journal
            state.audioPath = audioPath
            state.captureEnd = CaptureEnd(cause: .finished)
            state.seal = seal
            state.bodyDigest = bodyDigest
            state.sealedAt = .now
        }
        startTransfer()
    }

    func note(damage report: String) { tell { $0.note(damage: report) } }

    private func didOpen(_ source: String, _ format: StreamFormat) {
        continuation.yield(.listening(source: source, format: format))
    }

    /// Makes the take's folder and journal, and opens the connection.
    ///
    /// On the journal thread.
    private func openJournal(_ source: String) -> Result<Journal, SystemError> {
        var manifest = TakeManifest(
            id: id, created: Date(), audio: "audio.\(plan.format.fileExtension)",
            format: plan.format.name, source: source, url: plan.service.url.description)
        manifest.delivery = plan.record
        // It begins as soon as there is a journal, unless it waits for a speaker to end.
        if isCompleteSoon || !state.withLock({ $0.delivery.saysLength }) {
            manifest.beginTransfer(1, at: Date(), to: manifest.url)
        }
        return Result { () throws(SystemError) in
            let opened = try OpenedTake(
                in: pipeline, manifest,
                onSave: { [weak self] error in
                    self?.tell { $0.note(manifest: error?.description) }
                })
            if let reason = opened.unprotected { tell { $0.noteNoFolder(reason) } }
            state.withLock { state in
                state.journal = opened.journal
                state.record = opened.record
            }
            startTransfer()
            pipeline.sync.add(opened.journal) { [weak self] in self?.didTend(opened.journal) }
            opened.record?.announce()
            return opened.journal
        }
    }

    /// Passes on what is new about the take's safety.
    private func tell(_ note: (inout Protection) -> [TakeNotice]) {
        for notice in state.withLock({ note(&$0.protection) }) {
            continuation.yield(.noticed(notice))
            // The file may be a new one, in a new folder.
            if notice == .protectedAgain { record?.save { _ in } }
        }
    }

    /// Posts the journal from its start, after a pause; one that says its length waits for the end
    /// of the recording.
    ///
    /// Not on the transfer thread.
    func startTransfer(after pause: Delivery.Pause = Delivery.Pause()) {
        let (journal, delivery) = state.withLock { state in
            if state.seal != nil { state.delivery.noteComplete() }
            var journal = state.delivered == nil ? state.journal : nil
            state.awaitsSeal = state.delivery.saysLength && state.seal == nil
            if state.awaitsSeal { journal = nil }
            state.isTransferring = journal != nil
            return (journal, state.delivery)
        }
        guard let journal else { return }
        let (url, attempt) = (delivery.url, delivery.attempt)
        record?.beginTransfer(attempt, to: url.description)
        sentByteCount.store(0, ordering: .relaxed)
        var request = plan.request(for: journal, of: id, to: url, attempt: attempt)
        if delivery.saysLength {
            request.contentLength = journal.byteCount - plan.format.bodyOffset
        }
        // A recording that goes on has its own connection, whose end is then its own as well.
        request.leavesConnection = journal.isSealed
        if journal.isSealed, !delivery.wantsFreshConnection {
            request.longestIdleTime = Delivery.longestIdleTime
        }
        request.lateHeaders = { [weak self] in self?.lateHeaders ?? [] }
        // A body that ends is a recording that is to be recognised, and billed.
        request.mayEndBody = { [weak self] in self?.isWanted ?? false }
        let observer = Attempt(run: self, number: attempt, rule: plan.service.answer)
        let transfer = pipeline.transfer.start(
            request, after: pause.duration, atLeast: pause.atLeast, observer: observer)
        let (isUnwanted, isSealed) = state.withLock { state in
            state.transfer = transfer
            return (state.delivered != nil, state.seal != nil)
        }
        if pause.isForSpeaker && isSealed { pipeline.transfer.hurry(transfer) }
        if isUnwanted { pipeline.transfer.cancel(transfer) }
    }

    private var isWanted: Bool { state.withLock { $0.delivered == nil } }
    /// What is known of the body by the time at which an attempt begins.
    private var lateHeaders: [(name: String, value: String)] {
        state.withLock { $0.bodyDigest }.map { plan.digestHeaders($0) } ?? []
    }

    /// Has the sealed body's digest computed, which the next attempt will carry.
    ///
    /// On the sync thread: it reads all of the journal.
    func computeBodyDigest() {
        let sealed = state.withLock { state in
            state.seal == nil || state.bodyDigest != nil ? nil : state.journal
        }
        guard let sealed else { return }
        pipeline.sync.perform { [self] in
            // Without a digest the attempt is marked by its id and number alone.
            let digest = try? sealed.sha256(from: plan.format.bodyOffset)
            state.withLock { $0.bodyDigest = digest }
        }
    }

    // MARK: - What the stages say

    /// On the journal thread.
    private func didGrow() {
        guard let journal = state.withLock({ $0.journal }) else { return }
        tell { $0.note(journal.condition) }
        if state.withLock({ $0.protection.isManifestStale }) { record?.saveAgain() }
        continuation.yield(.progress(progress(of: journal)))
    }

    /// On the sync thread.
    private func didTend(_ journal: Journal) {
        tell { $0.note(journal.condition) }
        record?.unlockOnceSettled()
    }

    func progress(of journal: Journal) -> TakeProgress {
        TakeProgress(
            elapsed: StreamFormat.speech.duration(
                ofFrames: account.capturedFrames + account.gapFrames),
            level: account.level, journaledByteCount: journal.byteCount,
            bodyByteCount: max(0, journal.byteCount - plan.format.bodyOffset),
            sentByteCount: sentByteCount.load(ordering: .relaxed), isComplete: journal.isSealed)
    }

    /// On the capture thread.
    private func didCapture(_ end: CaptureEnd) {
        state.withLock { $0.captureEnd = end }
        continuation.yield(.captured(end))
        // What never began has nothing to be sent.
        if account.capturedFrames == 0 {
            switch end.cause {
            case .source(let error): deliver(.failure(.capture(error)))
            case .encoder(let error): deliver(.failure(.encoding(error)))
            default: break
            }
        }
        finishIfComplete()
    }

    /// On the journal thread.
    private func didEnd(_ seal: JournalSeal) {
        guard let journal = state.withLock({ $0.journal }), journal.condition.failure != nil else {
            return didSeal(seal)
        }
        // What memory holds goes to the disk now, if that has room: the outcome says whether it has.
        pipeline.sync.perform { [self] in
            journal.finish()
            didTend(journal)
            didSeal(seal)
        }
    }

    /// On the journal thread, or on the sync thread after a failure.
    private func didSeal(_ seal: JournalSeal) {
        // Before an answer, which may be there already, can end the take.
        record?.seal(seal, account, isSending: state.withLock { $0.delivered == nil })
        state.withLock { state in
            state.seal = seal
            state.sealedAt = .now
        }
        if state.withLock({ $0.awaitsSeal }) { startTransfer() }
        if let journal = state.withLock({ $0.journal }) {
            continuation.yield(.progress(progress(of: journal)))
        }
        // Whoever waits for the text does not wait for a pause that was made for a speaker.
        if let transfer = state.withLock({ $0.transfer }) { pipeline.transfer.hurry(transfer) }
        if state.withLock({ $0.delivery.attempt > 1 }) { computeBodyDigest() }
        if let loss = seal.loss, seal.byteCount <= plan.format.bodyOffset {
            deliver(.failure(.journal(reason: loss.description)))
        }
        finishIfComplete()
    }

    // MARK: - What others ask for

    func stop(cutShort: Bool = false) {
        if cutShort { tell { $0.noteEnd("memory, where it lives, has no room for more") } }
        control.requestStop()
        pipeline.capture.wake()
    }

    // The transfer is broken off before the recording ends: a body that is sealed first might be
    // sent to its end, and be recognised for nobody.

    func cancel() {
        deliver(.failure(.cancelled))
        control.requestCancel()
        pipeline.capture.wake()
    }

    func leave() {
        deliver(.failure(.left))
        control.requestStop(keepsTail: false)
        pipeline.capture.wake()
    }

    func release(_ time: Duration?) {
        guard let record else { return }
        if record.release(keeping: pipeline.retention.audio, time) { pipeline.released(id) }
    }

    func writeAudio(to path: String) throws(SystemError) {
        guard let journal = state.withLock({ $0.journal }) else {
            throw SystemError(call: "write \(path)", code: ENODATA)
        }
        try journal.export(to: path)
    }

    var audioExtension: String { plan.format.fileExtension }

    var record: TakeRecord? { state.withLock { $0.record } }

    func outcome() async -> TakeOutcome { await settlement.value }

    // MARK: - The end

    /// Settles what became of the transfers; the first word counts.
    func deliver(_ result: Result<Transcript, TakeFailure>) {
        let transfer = state.withLock { state -> TransferID? in
            guard state.delivered == nil else { return nil }
            state.delivered = result
            state.answeredAt = .now
            return state.transfer
        }
        if let transfer { pipeline.transfer.cancel(transfer) }
        finishIfComplete()
    }

    /// Ends the take once recording, journal and delivery have all ended.
    private func finishIfComplete() {
        if let (result, end) = state.withLock({ $0.complete }) { finish(result, capture: end) }
    }

    func finish(_ result: Result<Transcript, TakeFailure>, capture end: CaptureEnd) {
        let outcome = state.withLock { state -> TakeOutcome? in
            guard !state.isEnding else { return nil }
            state.isEnding = true
            return state.outcome(
                of: id, result, capture: end, account, bodyOffset: plan.format.bodyOffset)
        }
        guard let outcome else { return }
        // Before anybody knows the outcome, and asks for the audio to be released.
        record?.settle(outcome)
        continuation.finish()
        settlement.settle(outcome)
        pipeline.ended(self)
    }
}
