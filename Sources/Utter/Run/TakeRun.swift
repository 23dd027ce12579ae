// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Capture
internal import LinuxPlatform
internal import SpeechService
internal import Synchronization
internal import TakeStore
internal import Upload

/// Carries out what a take's machine asks for, in the order in which it asks.
///
/// Called on every loop's thread. An event is handled under the lock; what follows from it is done
/// outside, one action after another, by the thread that finds no other doing so.
final class TakeRun: Sendable {
    private struct State {
        var machine: TakeMachine
        /// What the machine has asked for, and is not done yet.
        var due: [TakeMachine.Action] = []
        var isActing = false
        var journal: Journal?
        /// Folder and manifest, when the take is kept on the disk.
        var record: TakeRecord?
        /// How many samples the body says it has, decided by the first request; 0 says nothing.
        var statedFrames: Int?
        /// The secrets that were asked for.
        var secrets: [Credential] = []
        /// Asks for them.
        var asking: Task<Void, Never>?
        var isSettled = false
        /// The token that was fetched for the service's secret.
        var token: Credential?
        var transfers: [Int: TransferID] = [:]
        var times = TakeTimes()
    }

    private let name: Mutex<TakeID?>
    let plan: DeliveryPlan
    let pipeline: Pipeline
    let events = Broadcast<TakeEvent>(adding: { TakeEvent.add($1, to: &$0) })
    let control = CaptureControl()
    let account: CaptureAccount
    private let settlement = Settlement<TakeOutcome>()
    private let state: Mutex<State>
    let meter: ProgressMeter
    /// What the requests of the take share; nil when memory ran out.
    let session = TransferSession()
    /// The file of a kept take that travels in another form than it is kept in.
    private let audioPath: String?
    /// The length at which a recording ends because the service takes no longer one; nil without.
    let limit: Duration?

    /// Prepares a take; the account is that of what an earlier run has recorded, or empty.
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
        state = Mutex(State(machine: machine, token: token))
        meter = ProgressMeter(of: account, bodyOffset: plan.format.bodyOffset)
    }

    /// The take's name; of a new one, found when it is first asked for.
    ///
    /// The thread that makes its folder asks once it knows the names on the disk. A caller that asks
    /// sooner has one by the clock, and waits for no disk.
    var id: TakeID {
        name.withLock { name in
            let id = name ?? pipeline.nextID()
            name = id
            return id
        }
    }

    // MARK: - Events and actions

    /// Tells the machine what has happened, and does what follows.
    ///
    /// From any thread; never blocks.
    func handle(_ event: TakeMachine.Event) {
        let now = Moment(elapsed: meter.elapsed, jitter: .random(in: 0...1))
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

    func tell(_ event: TakeEvent) { events.add(event) }

    func outcome() async -> TakeOutcome { await settlement.value }

    func settle(_ ending: TakeMachine.Ending) {
        let (machine, journal, record) = state.withLock { ($0.machine, $0.journal, $0.record) }
        var times = state.withLock { $0.times }
        times.began = meter.began
        times.firstFrame = account.firstFrame.map { $0 - meter.began }
        times.settled = meter.elapsed
        let outcome = TakeOutcome(
            of: self, machine, ending, times, audioPath: audioPath ?? journal?.path,
            bodyByteCount: (journal?.byteCount ?? 0) - plan.format.bodyOffset)
        if case .failure(let failure) = outcome.result, failure.refusesSecret {
            pipeline.secrets.note(refused: secrets, of: plan.service)
        }
        let asking = state.withLock { state in
            state.isSettled = true
            return state.asking
        }
        asking?.cancel()
        // Before the caller knows the outcome, and asks for the audio to be released.
        record?.settle(outcome)
        events.finish()
        settlement.settle(outcome)
        pipeline.ended(self)
    }

    // MARK: - What the take has

    var journal: Journal? { state.withLock { $0.journal } }
    var record: TakeRecord? { state.withLock { $0.record } }

    func hold(_ journal: Journal, _ record: TakeRecord?) {
        state.withLock { ($0.journal, $0.record) = (journal, record) }
    }

    func hold(_ token: Credential) { state.withLock { $0.token = token } }

    var token: Credential? { state.withLock { $0.token } }

    /// The length that all bodies of this run say: of a recording that was complete before the first.
    func statedFrames() -> Int {
        state.withLock { state in
            let frames =
                state.statedFrames ?? (state.journal?.isSealed == true ? account.encodedFrames : 0)
            state.statedFrames = frames
            return frames
        }
    }

    /// Keeps the task that asks for secrets, which is cancelled when the take has ended.
    func hold(_ asking: Task<Void, Never>) {
        let isLate = state.withLock { state in
            state.asking = asking
            return state.isSettled
        }
        if isLate { asking.cancel() }
    }

    func hold(_ secrets: [Credential]) { state.withLock { $0.secrets = secrets } }

    /// The secrets that were asked for, and have been answered.
    var secrets: [Credential] { state.withLock { $0.secrets } }

    /// The plan with the secrets that were asked for.
    var openedPlan: DeliveryPlan {
        var plan = plan
        plan.service = plan.service.opened(with: secrets)
        return plan
    }

    /// The service with all its secrets, the fetched token among them.
    var service: RecognitionService {
        var service = openedPlan.service
        if let token { service.add(token) }
        return service
    }

    /// What decides the requests of the take's part.
    var exchange: any Exchange { state.withLock { $0.machine.parts[0].exchange } }

    func hold(_ transfer: TransferID, of part: Int) {
        state.withLock { $0.transfers[part] = transfer }
    }

    func transfer(of part: Int) -> TransferID? { state.withLock { $0.transfers[part] } }

    func isWanted(_ part: Int) -> Bool { state.withLock { $0.machine.isWanted(part) } }

    func digest(of part: Int) -> String? { state.withLock { $0.machine.parts[part].digest } }
}
