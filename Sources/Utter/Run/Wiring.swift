// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import Capture
internal import FoundationEssentials
internal import LinuxPlatform
internal import TakeStore
internal import Upload

/// The loops, and all that passes between them: who calls what on which thread.
///
/// ```
/// capture ──ring──▶ transfer                                    the samples, to the network
///  │ ▲  └──ring──▶ sync, journal ──sealed, grown──▶ transfer    and to the disk each 200 ms, or at once
///  │ └──drained──────────┘                                      an unpaced source waits
///
///              transfer ◀──started── notes ◀──note               a request, noted first
///              answers  ◀── long answers ── transfer
///              journal  ◀── open ── a thread for each take       its folder and its file
///              sync  ◀── manifests, digests, removals ── all     what waits for the disk
/// ```
///
/// Every loop tells a take's machine what has happened (`TakeRun.handle`); what the machine asks for
/// is handed to the loop that does it (`carryOut`), and none of that waits for anything.
final class Wiring: Sendable {
    let capture: CaptureLoop
    let journal: JournalLoop
    let transfer: any Transport
    let sync: SyncLoop
    let notes: WorkerLoop<NoteWriter>
    let answers: WorkerLoop<NoteWriter>
    /// The marks of takes that have grown, one for each.
    let growth: Marks
    private let wakeTransfer: @Sendable () -> Void
    /// Longer than the disk should take to open a take's folder.
    static let diskPatience = Duration.seconds(1)
    /// A request waits no longer for the sound that follows a pause.
    static let longestWait = Duration.seconds(5)

    // MARK: - Loop to loop

    typealias TransportMaker = (Wakeup) throws(SystemError) -> any Transport

    init(transport: TransportMaker) throws(SystemError) {
        let growth = try Wakeup()
        self.growth = growth.marks
        let wakeTransfer = { @Sendable in if growth.marks.isAnySet { growth.signal() } }
        self.wakeTransfer = wakeTransfer
        let journal = try JournalLoop()
        self.journal = journal
        capture = try CaptureLoop(onWrite: {
            wakeTransfer()
            journal.wakeForMarks()
        })
        sync = try SyncLoop()
        notes = try WorkerLoop(name: "notes") { NoteWriter() }
        answers = try WorkerLoop(name: "answers") { NoteWriter() }
        transfer = try transport(growth)
    }

    /// Ends the threads in the direction of the samples, and waits for them and the disk.
    func shutDown() {
        capture.shutDown()
        transfer.shutDown()
        // All that the transfer thread has handed over is read.
        answers.shutDown()
        notes.shutDown()
        journal.shutDown()
        sync.shutDown()
        growth.take()
    }

    // MARK: - Source → encoder → ring → request body, journal

    /// From any thread; does not block.
    func record(
        _ source: sending any CaptureSource, by plan: CapturePlan, isCompleteSoon: Bool,
        for run: TakeRun
    ) {
        let draft = manifest(of: run, from: source)
        let file =
            source.isStored ? nil : makeRingFile(of: draft, isLive: source.isLive, for: run)
        let ring =
            file.map { ByteRing($0.memory) }
            ?? ByteRing(minimumCapacity: run.plan.format.ringByteCount)
        run.hold(file)
        // No byte of a ring that goes with this process is sent before the disk has it, if there is one.
        let isFragile = file == nil && run.pipeline.spool != nil
        let audio = Journal(following: isFragile ? nil : ring.makeFollower())
        run.hold(audio)
        let mark = journal.makeMark()
        do throws(EncodingError) {
            capture.add(
                CaptureStage(
                    source: source,
                    encoder: try run.plan.format.makeEncoder(),
                    producer: ring.takeProducer(), plan: plan, control: run.control,
                    account: run.account, mayReadAhead: !isFragile,
                    onWrite: { isUrgent in
                        if !isFragile { run.growth.set() }
                        if isUrgent || isFragile { mark.set() }
                    },
                    // On the thread that has the take: the microphone's or capture.
                    tell: { [capture] event in
                        run.follow(event, of: draft.source)
                        guard case .ended = event else { return }
                        // No byte follows that would tell of a disk that does not take the last ones.
                        capture.call(at: .now + TakeRun.longDiskWait) { [weak run] in
                            run?.lookAfterEnd()
                        }
                    }))
        } catch {
            run.handle(.unrecordable(.encoding(error), CaptureEnd(cause: .encoder(error))))
            return
        }
        if run.pipeline.spool != nil {
            // It means nothing once the folder is there. A task that sleeps would start five threads.
            capture.call(at: .now + Self.diskPatience) { [weak run] in
                run?.handle(.diskIsSlow(Self.diskPatience, isAwaited: isFragile))
            }
        }
        let stage = JournalStage(
            ring.takeConsumer(), into: audio, mark: mark,
            onGrow: { [self] in if isFragile { tellTransfer(of: run) } },
            onDrain: { [capture] in capture.wake() },
            onFull: { run.handle(.full) },
            onSeal: { [self] seal in
                tellTransfer(of: run)
                complete(run, with: seal)
            })
        // On the sync thread, when the journal's condition has changed or it is settled.
        let onChange: @Sendable () -> Void = { [weak run, sync] in
            // Behind the manifest of the sealed take, which says what the ring does; at the end of the
            // thread it is written.
            if audio.isSettled, !sync.perform({ file?.remove() }) { file?.remove() }
            run?.didTend()
        }
        let begin = { @Sendable [self] (failure: SystemError?) in
            if let failure {
                // The take lives in memory.
                run.hold(nil as ManifestWriter?)
                run.handle(.protection(.noFolder(failure.description)))
                run.handle(.opened(nil))
            } else {
                open(draft, file, isCompleteSoon, for: run)
            }
            sync.add(audio, filledBy: stage, onChange: onChange)
            run.record?.announce()
            journal.add(stage)
        }
        do throws(SystemError) {
            // Nothing joins it: a disk that hangs must not keep a program from ending.
            _ = try NamedThread(name: "open") { begin(nil) }
        } catch {
            begin(error)
        }
    }

    func tellTransfer(of run: TakeRun) {
        run.growth.set()
        wakeTransfer()
    }

    /// Writes first what the disk has refused of a complete recording, if possible, so that the
    /// outcome says so; on the thread that has sealed the journal.
    private func complete(_ run: TakeRun, with seal: JournalSeal) {
        let (journal, record) = (run.journal, run.record)
        guard journal?.condition.failure != nil || record?.isStale == true else {
            run.didComplete()
            run.handle(.sealed(seal))
            // Only now the end of a stretch is known.
            return tellTransfer(of: run)
        }
        sync.perform {
            journal?.finish()
            record?.finish()
            run.didTend()
            run.didComplete()
            run.handle(.sealed(seal))
            self.tellTransfer(of: run)
        }
    }

    /// Makes the take's folder, and reads what the disk knows of the service; blocks on the disk.
    private func open(
        _ draft: TakeManifest, _ file: RingFile?, _ isCompleteSoon: Bool, for run: TakeRun
    ) {
        run.pipeline.spool?.forgetRefusal()
        // The take's name stands behind those on the disk; why it cannot be opened is told below.
        _ = try? run.pipeline.spool?.store()
        let exchange = run.notedExchange(isCompleteSoon: isCompleteSoon)
        // A request that waits for the speaker has not begun.
        let first = (exchange?.request).flatMap { request in
            request.isForToken || request.saysLength && !isCompleteSoon ? nil : request
        }
        if let first { run.note { $0.beginTransfer(first.number, at: Date(), to: $0.url) } }
        let manifest = run.begun(draft.named(run.id))
        file?.rename(to: manifest.id, isOpened: true)
        let opened = OpenedTake(
            in: run.pipeline, manifest, run.journal ?? Journal(),
            onSave: { [weak run] in run?.handle(.protection(.manifest($0?.description))) })
        if run.hold(opened.record) { notes.send { opened.record?.saveTransfers() } }
        if let reason = opened.unprotected { run.handle(.protection(.noFolder(reason))) }
        if let reason = opened.warning { run.handle(.protection(.spoolNearlyFull(reason))) }
        run.handle(.opened(exchange))
    }

    /// Makes the ring of a voice or a pipe so that it outlives this process: what is said before the
    /// disk has answered is nowhere else.
    private func makeRingFile(
        of draft: TakeManifest, isLive: Bool, for run: TakeRun
    ) -> RingFile? {
        guard let spool = run.pipeline.spool, !spool.encrypts else { return nil }
        do throws(SystemError) {
            return try spool.rings.makeRing(
                of: draft, isLive: isLive, minimumCapacity: run.plan.format.ringByteCount)
        } catch {
            run.tell(.noticed(.fragile(reason: error.description)))
            return nil
        }
    }

    /// The take as it begins; its name is not known before the disk has been looked at.
    private func manifest(of run: TakeRun, from source: any CaptureSource) -> TakeManifest {
        let plan = run.plan
        var generator = SystemRandomNumberGenerator()
        return TakeManifest(
            id: TakeID(at: Date(), using: &generator), created: Date(),
            audio: "audio.\(plan.format.fileExtension)", format: plan.format.name,
            source: source.name, url: plan.service.url.description, delivery: plan.record,
            isPart: !source.isLive)
    }

    // MARK: - What a take's machine asks for

    /// Hands an action to the loop that does it; on the event's thread, never blocks.
    func carryOut(_ action: TakeMachine.Action, for run: TakeRun) {
        switch action {
        case .note(let lane, let request): note(request, of: lane, for: run)
        case .start(let lane, let request, let pause):
            start(request, of: lane, after: pause, for: run)
        case .await(let byteCount): run.await(byteCount: byteCount)
        case .cut(let request): cut(request, for: run)
        case .hurry(let lane): run.transfer(of: lane).map { transfer.hurry($0) }
        case .breakOff(let lane): run.transfer(of: lane).map { transfer.cancel($0) }
        case .digest:
            sync.perform {
                // Without it the attempt is marked by its id and number alone.
                let digest = try? run.journal.map {
                    try run.openedPlan.body(
                        of: $0, frames: run.statedFrames(), of: run.id
                    ).contentDigest()
                }
                run.handle(.digested(digest))
            }
        case .ask(let refusal): run.ask(after: refusal)
        case .remember(let traits): run.pipeline.remember(traits, of: run.plan.service)
        case .pauseCapture:
            run.control.requestPause()
            capture.wake()
        case .awaitPause(let frame):
            capture.call(at: .now + Self.longestWait) { [weak run] in
                run?.handle(.pauseLasts(frame: frame))
            }
        case .savePause(let frame):
            run.note { [date = Date()] manifest in manifest.pause(at: frame, date) }
        case .resumeCapture:
            run.control.requestResume()
            capture.wake()
        case .endCapture(let stop):
            switch stop {
            case .withTail: run.control.requestStop()
            case .withoutTail: run.control.requestStop(keepsTail: false)
            case .cancelled:
                // A recovery would bring it back as one that is to be sent.
                run.ring?.memory.cancel()
                run.control.requestCancel()
            }
            capture.wake()
        case .saveAttempt(let attempt):
            let result = attempt.result
            run.note { [date = Date()] manifest in
                manifest.endTransfer(
                    attempt.number, result.ending.reason, at: date, status: result.status,
                    wasWhole: attempt.mayBeTaken)
            }
        case .saveProgress(let progress):
            let noted = progress?.noting(run.account.powers)
            run.note { $0.reach(noted) }
        case .saveSeal(let seal, let end, let isSending):
            run.record?.seal(seal, run.account, end, isSending: isSending)
        case .saveAgain: run.record?.save { _ in }
        case .tell(let event): run.tell(event)
        case .settle(let ending): run.settle(ending)
        }
    }

    // MARK: - Ring, journal → request body → response

    /// Notes an attempt before it begins, unless the take is in memory or has the note.
    ///
    /// A recording whose ring outlives this process has the note there, and does not wait for the disk;
    /// a step of a job does, as what the steps before have brought is to be found again.
    private func note(_ request: ExchangeRequest, of lane: Int, for run: TakeRun) {
        let goesOn = run.exchange.progress != nil
        if goesOn, run.wait(with: { [self] in note(request, of: lane, for: run) }) { return }
        let isNoted = run.record?.knows(of: request.number) ?? false || request.isForToken
        let isRead = request.upload != nil || run.plan.service.signsBodies
        let wantsDigest = request.wantsDigest && isRead
        let ring = request.isForToken || run.journal?.isSealed == true ? nil : run.ring
        if !isNoted {
            run.note { [date = Date(), url = request.shownURL] in
                $0.beginTransfer(request.number, at: date, to: url)
            }
        }
        let record = run.record
        // The request may name the take, whose folder is not there yet.
        if record == nil { ring?.rename(to: run.id) }
        ring?.memory.note(attempt: request.number)
        let isWritten = isNoted || record == nil
        // It is made where one may wait for the disk.
        let wantsFile = request.stretch?.end != nil && !run.plan.format.isRaw
        let waits = wantsDigest || wantsFile || !isWritten && (ring == nil || goesOn)
        if waits || !isWritten {
            notes.send { [self] in
                if wantsFile { hold(file(of: request, for: run), of: lane, for: run) }
                if wantsDigest { run.hold(bodyDigest: digest(of: request, for: run), of: lane) }
                if !isWritten { record?.saveTransfers() }
                if waits { run.handle(.noted(lane: lane)) }
            }
        }
        if !waits { run.handle(.noted(lane: lane)) }
    }

    /// The digest of the body of a request, in hexadecimal digits; nil when it cannot be read.
    private func digest(of request: ExchangeRequest, for run: TakeRun) -> String? {
        guard let journal = run.journal else { return nil }
        let body = run.openedPlan.request(
            request, for: journal, frames: frames(of: request, for: run), of: run.id
        ).body
        // Its sending tells why.
        return try? request.upload == nil ? body.sha256() : body.contentDigest()
    }

    /// The samples that a body says it has: all requests of an upload send ranges of one body.
    private func frames(of request: ExchangeRequest, for run: TakeRun) -> Int {
        if let upload = request.upload { return upload.isOfWhole ? run.account.encodedFrames : 0 }
        if request.piece != nil { return request.isComplete ? run.account.encodedFrames : 0 }
        return run.statedFrames()
    }

    private func start(
        _ request: ExchangeRequest, of lane: Int, after pause: Pause, for run: TakeRun
    ) {
        guard let journal = run.journal else {
            let ending = TransferResult.Ending.unprepared("the take has no journal")
            return run.handle(.ended(lane: lane, Reply(result: .unstarted(ending))))
        }
        let plan = run.openedPlan
        var body = plan.request(
            request, for: journal, frames: frames(of: request, for: run), of: run.id,
            token: run.token, digest: request.wantsDigest ? run.bodyDigest(of: lane) : nil,
            stretch: audio(of: request, on: lane, in: journal, for: run))
        if request.carriesRecording, request.upload == nil, !request.isPart {
            // On the transfer thread, when the request begins and before its body ends.
            body.lateHeaders = { [weak run, plan] in
                guard let run, run.exchange.sendsDigest else { return [] }
                return run.digest.map { plan.digestHeaders($0) } ?? []
            }
        }
        if request.carriesRecording, !request.isPart { run.meter.noteAttempt() }
        body.session = run.session
        body.growth = run.growth
        body.mayEndBody = { [weak run] in run?.isWanted(lane) ?? false }
        var observer: any TransferObserver = AttemptObserver(of: lane, for: run, request)
        if let observing = plan.observing {
            let digits = "00\(request.number)".suffix(max(3, "\(request.number)".count))
            observer = observing(body, "\(run.id.text)-\(digits)", run.service, observer) {
                [sync] in sync.perform($0)
            }
        }
        run.hold(
            transfer.start(
                body, after: pause.duration, atLeast: pause.atLeast, observer: observer),
            of: lane)
    }
}

/// The thread `notes`: writes which requests are about to begin, or have just begun.
///
/// It writes small files without `fsync`. The sync thread may be busy for seconds, and the threads
/// of the samples must not wait.
struct NoteWriter: Worker {
    mutating func receive(_ note: @escaping @Sendable () -> Void) { note() }

    mutating func turn(isLast: Bool) -> WorkerPause { .untilWoken }
}
