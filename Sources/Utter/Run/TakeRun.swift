// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Capture
internal import FoundationEssentials
internal import LinuxPlatform
internal import SpeechService
internal import Synchronization
internal import TakeStore
internal import Upload

/// Carries out what a take's machine asks for, in order.
///
/// Called on every loop's thread. An event is handled under the lock. Its actions run outside, one
/// after another, on the thread that finds no other doing so.
final class TakeRun: Sendable {
    private struct State {
        var machine: TakeMachine
        var due: [TakeMachine.Action] = []
        var isActing = false
        var journal: Journal?
        /// The file of the ring until the outcome; nil when the ring is in the memory of this process.
        var ring: RingFile?
        /// The writer of the manifest; nil unless the take is kept on the disk.
        var record: ManifestWriter?
        /// Changes of the manifest until the take has its place, on the disk or in memory; nil then.
        var early: [@Sendable (inout TakeManifest) -> Void]? = []
        /// Actions that wait for that.
        var waiting: [@Sendable () -> Void] = []
        /// Samples that the body claims, set by the first request; 0 claims nothing.
        var statedFrames: Int?
        /// Secrets the provider answered with.
        var secrets: [Credential] = []
        var asking: Task<Void, Never>?
        var isSettled = false
        /// Fetched for the service's secret.
        var token: Credential?
        var transfers: [Int: TransferID] = [:]
        var bodyDigests: [Int: String] = [:]
        var stretches: [Int: [UInt8]] = [:]
        var cutter: StretchCutter?
        var times = TakeTimes()
        var partials: [TakeStory.Piece] = []
    }

    private let name: Mutex<TakeID?>
    let plan: DeliveryPlan
    let pipeline: Pipeline
    let events = Broadcast<TakeEvent>(adding: { TakeEvent.add($1, to: &$0) })
    let control = CaptureControl()
    let account: CaptureAccount
    let settlement = Settlement<TakeOutcome>()
    private let state: Mutex<State>
    let meter: ProgressMeter
    let session = TransferSession()
    /// Set when the ring has grown or the journal is sealed; the transfer thread takes it.
    let growth: Mark
    /// In bytes of the journal; what is reached is reported once.
    let awaitedByteCount = Atomic(Int.max)
    /// The path of the audio of a kept take that is sent in another form.
    private let audioPath: String?
    /// The service's longest recording; nil without a limit.
    let limit: Duration?

    init(
        id: TakeID? = nil, plan: DeliveryPlan, machine: TakeMachine, pipeline: Pipeline,
        account: CaptureAccount = CaptureAccount(), audioPath: String? = nil,
        token: Credential? = nil, limit: Duration? = nil
    ) {
        name = Mutex(id)
        self.plan = plan
        self.pipeline = pipeline
        self.account = account
        self.audioPath = audioPath
        self.limit = limit
        growth = Mark(in: pipeline.wiring.growth)
        state = Mutex(State(machine: machine, token: token))
        meter = ProgressMeter(of: account, bodyOffset: plan.format.bodyOffset)
        growth.whenTaken { [weak self] in self?.didGrow() }
    }

    /// The take's name; a new take gets it at the first call.
    ///
    /// The thread that makes the folder asks once it knows the names on the disk. An earlier caller
    /// gets one by the clock, and waits for no disk.
    var id: TakeID {
        name.withLock { name in
            let id = name ?? pipeline.nextID()
            name = id
            return id
        }
    }

    // MARK: - Events and actions

    /// Tells the machine, and carries out what follows; from any thread, never blocks.
    func handle(_ event: TakeMachine.Event) {
        let now = Moment(
            elapsed: meter.elapsed, jitter: .random(in: 0...1),
            clock: Date().timeIntervalSince1970,
            measure: { [account] extent in
                (extent.frameCount, extent.encodedByteCount) = (
                    account.encodedFrames, account.encodedBytes
                )
            })
        let isMine = state.withLock { state in
            state.times.note(event, at: now.elapsed)
            state.due += state.machine.handle(event, at: now)
            defer { state.isActing = true }
            return !state.isActing
        }
        guard isMine else { return }
        while let action = takeAction() { pipeline.wiring.carryOut(action, for: self) }
    }

    private func takeAction() -> TakeMachine.Action? {
        state.withLock { state in
            state.isActing = !state.due.isEmpty
            return state.due.isEmpty ? nil : state.due.removeFirst()
        }
    }

    func tell(_ event: TakeEvent) {
        if case .heard(let transcript) = event {
            state.withLock { $0.partials.note(transcript, at: meter.elapsed) }
        }
        events.add(event)
    }

    func settle(_ ending: TakeMachine.Ending) {
        let (machine, journal, record) = state.withLock { ($0.machine, $0.journal, $0.record) }
        if machine.attempts.isEmpty, !machine.delivery.isSending {
            // The first was noted with the take, before anything was known that keeps it back.
            note { [number = machine.delivery.exchange.request.number] in
                $0.withdrawTransfer(number)
            }
        }
        var times = state.withLock { $0.times }
        times.began = meter.began
        times.firstFrame = account.firstFrame.map { $0 - meter.began }
        times.settled = meter.elapsed
        var outcome = TakeOutcome(
            of: self, machine, ending, times, audioPath: audioPath ?? journal?.path,
            bodyByteCount: (journal?.byteCount ?? 0) - plan.format.bodyOffset)
        outcome.partials = state.withLock { $0.partials }
        if case .failure(let failure) = outcome.result, failure.refusesSecret {
            pipeline.secrets.note(refused: secrets, of: plan.service)
        }
        let asking = state.withLock { state in
            (state.isSettled, state.ring) = (true, nil)
            return state.asking
        }
        asking?.cancel()
        // An object of the archive is of a take that was counted.
        if !plan.hasOwnName { pipeline.numbers.note(outcome) }
        outcome.apply(plan.rules, in: plan.service.use?.words["language"])
        guard let filter = plan.filter, let words = outcome.filterable else {
            return finish(outcome, record)
        }
        let ruled = outcome
        let filtering: @Sendable () -> Void = { [self] in
            pipeline.filters.add { [self] isOver in
                finish(
                    ruled.filtered(filter.result(for: words, of: id, unless: isOver)), record)
            }
        }
        guard let record else { return filtering() }
        // A filter that never ends costs no answer.
        record.answer(outcome)
        record.tellSafety { _ in filtering() }
    }

    private func finish(_ outcome: TakeOutcome, _ record: ManifestWriter?) {
        // Before the caller knows the outcome, and asks for the audio to be released.
        record?.settle(outcome)
        events.finish()
        settlement.settle(outcome)
        pipeline.ended(self)
    }

    // MARK: - What the take has

    var journal: Journal? { state.withLock { $0.journal } }
    var record: ManifestWriter? { state.withLock { $0.record } }

    func hold(_ journal: Journal) { state.withLock { $0.journal = journal } }

    /// The take has its place, which is in memory without a writer.
    ///
    /// - Returns: whether the writer has changes to write.
    @discardableResult
    func hold(_ record: ManifestWriter?) -> Bool {
        let (isLate, waiting) = state.withLock { state in
            let early = state.early ?? []
            for change in early { record?.note(change) }
            (state.record, state.early) = (record, nil)
            defer { state.waiting = [] }
            return (!early.isEmpty, state.waiting)
        }
        for action in waiting { action() }
        return isLate
    }

    /// Has an action wait until the take has its place; false when it has it.
    func wait(with action: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.early != nil { state.waiting.append(action) }
            return state.early != nil
        }
    }

    /// Changes the manifest, which is written with what follows; from any thread, never blocks.
    func note(_ change: @escaping @Sendable (inout TakeManifest) -> Void) {
        state.withLock { state in
            state.early?.append(change)
            state.record?.note(change)
        }
    }

    /// The manifest of the take that begins, with all that has happened to it by now.
    func begun(_ draft: TakeManifest) -> TakeManifest {
        state.withLock { state in
            var manifest = draft
            for change in state.early ?? [] { change(&manifest) }
            if state.early != nil { state.early = [] }
            return manifest
        }
    }

    func hold(_ ring: RingFile?) { state.withLock { $0.ring = ring } }
    var ring: RingFile? { state.withLock { $0.ring } }

    func hold(_ token: Credential) { state.withLock { $0.token = token } }
    var token: Credential? { state.withLock { $0.token } }

    /// The samples that all bodies of this run claim: of a recording that was complete before the
    /// first.
    func statedFrames() -> Int {
        state.withLock { state in
            let frames =
                state.statedFrames ?? (state.journal?.isSealed == true ? account.encodedFrames : 0)
            state.statedFrames = frames
            return frames
        }
    }

    /// Keeps the task, which is cancelled when the take has ended.
    func hold(_ asking: Task<Void, Never>) {
        let isLate = state.withLock { state in
            state.asking = asking
            return state.isSettled
        }
        if isLate { asking.cancel() }
    }

    func hold(_ secrets: [Credential]) { state.withLock { $0.secrets = secrets } }
    var secrets: [Credential] { state.withLock { $0.secrets } }

    /// With the secrets that were asked for.
    var openedPlan: DeliveryPlan {
        var plan = plan
        plan.service = plan.service.opened(with: secrets)
        plan.isTraced = pipeline.tracesRequests
        return plan
    }

    /// With all secrets, the fetched token among them.
    var service: RecognitionService {
        var service = openedPlan.service
        if let token { service.add(token) }
        return service
    }

    var exchange: any Exchange { state.withLock { $0.machine.delivery.exchange } }

    func hold(_ transfer: TransferID, of lane: Int) {
        state.withLock { $0.transfers[lane] = transfer }
    }
    func transfer(of lane: Int) -> TransferID? { state.withLock { $0.transfers[lane] } }

    func isWanted(_ lane: Int) -> Bool { state.withLock { $0.machine.isWanted(lane) } }
    var digest: String? { state.withLock { $0.machine.delivery.digest } }

    /// Keeps the digest of the body of a lane's next request, in hexadecimal digits.
    func hold(bodyDigest: String?, of lane: Int) {
        state.withLock { $0.bodyDigests[lane] = bodyDigest }
    }
    func bodyDigest(of lane: Int) -> String? { state.withLock { $0.bodyDigests[lane] } }

    /// Keeps the file of the stretch that a lane's next request carries.
    func hold(stretch: [UInt8]?, of lane: Int) { state.withLock { $0.stretches[lane] = stretch } }

    func takeStretch(of lane: Int) -> [UInt8]? {
        state.withLock { $0.stretches.removeValue(forKey: lane) }
    }

    func cutter(of journal: Journal) -> StretchCutter {
        state.withLock { state in
            let shortest = plan.service.limits.shortest.map { StreamFormat.speech.frames(in: $0) }
            let cutter =
                state.cutter
                ?? StretchCutter(
                    of: journal, as: plan.format, shortest: shortest ?? 0,
                    powers: account.powers ?? PowerTrack(summary: []))
            state.cutter = cutter
            return cutter
        }
    }

    /// On the transfer thread.
    func reach(of stretch: StretchRequest) -> (StretchReach, frameCount: Int) {
        // Asked first: the bytes are ahead of the frames.
        let frameCount = account.encodedFrames
        return (exchange.reach(of: stretch), frameCount)
    }
}
