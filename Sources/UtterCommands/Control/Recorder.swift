// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import OperatorMetrics
internal import Synchronization
internal import Utter
internal import UtterControl
internal import UtterTerminal

/// Records takes that clients of the control socket begin and end, and gives them the texts.
///
/// Requests come on the control thread and are carried out on the dictation's; takes are followed
/// on the main one. A text is given once: to the first client that stopped its take, or, when the
/// recording ended without one, to the first that asks in the next moments.
final class Recorder: Sendable {
    /// A take, and what its request and the settings say of it.
    private typealias Followed = (take: Take, notice: DesktopNotice?, audioTime: Duration?)

    /// The machine, and what it has said that is not done yet.
    private struct Core {
        var machine: RecorderMachine
        var actions: ArraySlice<RecorderMachine.Action> = []
        /// Whether a thread does what the machine has said.
        var isPerforming = false
        /// The request that the dictation carries out, or did last.
        var request: ControlRequest?
        /// The takes whose text is not where it belongs yet, by their numbers.
        var takes: [Int: Followed] = [:]

        func followed(_ id: TakeID) -> Followed? { takes.values.first { $0.take.id == id } }
    }

    private struct Parts {
        var dictation: Dictation?
        var server: WorkerLoop<ControlWorker>?
    }

    /// How long the text of a recording that ended by itself waits for a client.
    private static let lingering = Duration.seconds(30)

    /// How long a start waits for the stop of the take before, which may have been begun first.
    private static let grace = Duration.seconds(1)

    /// How long the request that it was begun for is awaited.
    private static let patience = Duration.seconds(10)

    /// The descriptors that a take needs at most: the device, the journal, its folder, the connection.
    private static let takeDescriptors = 12

    private let session: TakeSession
    private let owner: SocketOwner
    private let core: Mutex<Core>
    /// Apart from the state: secrets may take a while to be read.
    private let plans: Mutex<RecorderPlans>
    private let parts = Mutex(Parts())

    init(
        _ session: TakeSession, _ owner: SocketOwner, plans: consuming sending RecorderPlans,
        for purpose: RecorderMachine.Purpose
    ) {
        (self.session, self.owner) = (session, owner)
        self.plans = Mutex(plans)
        core = Mutex(Core(machine: RecorderMachine(purpose, process: getpid())))
    }

    private var dictation: Dictation? { parts.withLock { $0.dictation } }
    /// Serves the clients, on a thread of its own.
    private var server: WorkerLoop<ControlWorker>? { parts.withLock { $0.server } }

    /// Serves clients, and begins with `request` if there is one, until all is done.
    ///
    /// Where it `listensAgain`, a take that silence has ended is followed by another one.
    func run(
        _ request: ControlRequest?, longest: Duration, listensAgain: Bool = false,
        isReady: () -> Void = {}
    ) async throws(CommandFailure) -> ExitStatus {
        // The first sleep opens the runtime's timer, which ends the program if it gets no descriptor:
        // before clients can have taken all of them.
        try? await Task.sleep(for: .nanoseconds(1))
        let takes: AsyncStream<Take>
        let stopWord = listensAgain ? try KnownSettings.stopWord.value() : nil
        do throws(SystemError) {
            let dictation = try Dictation(longest: longest, listensAgain: listensAgain) {
                [self] in startTake($0, stopWord)
            }
            takes = dictation.takes
            dictation.observe(
                show: { [self] in handle(.shown($0)) }, tell: { [self] in handle(.news($0)) })
            parts.withLock { $0.dictation = dictation }
            if let request { handle(.asked(request, nil)) }
            // Under the lock: a client that comes at once is answered.
            try parts.withLock { parts throws(SystemError) in
                parts.server = try WorkerLoop(name: "control") { [self] in
                    ControlWorker(owner, self)
                }
            }
        } catch {
            owner.remove()
            throw CommandFailure(error)
        }
        // A signal that came before finds nothing to begin or end.
        _ = session.running.attach { [self] in obey($0) }
        isReady()
        await withDiscardingTaskGroup { group in
            group.addTask { [self] in
                // Cancelled when the program ends.
                try? await Task.sleep(for: Self.patience)
                handle(.unasked)
            }
            // The texts of a loop go where they belong in the order in which they were spoken.
            var before = AsyncStream<Never> { $0.finish() }
            for await take in takes {
                let (isGiven, given) = AsyncStream<Never>.makeStream()
                group.addTask { [self, before] in await follow(take, behind: before, given) }
                if listensAgain { before = isGiven }
            }
            group.cancelAll()
        }
        owner.remove()
        dictation?.shutDown()
        server?.shutDown()
        plans.withLock { $0.shutDown() }
        return ExitStatus(rawValue: core.withLock { $0.machine.exit }) ?? .internalError
    }

    /// Makes ready what the first take needs; what is wrong is said, and again to who starts it.
    func prepare() {
        do throws(CommandFailure) {
            try plans.withLock { plans throws(CommandFailure) in try plans.prepare() }
        } catch {
            error.report()
        }
    }

    // MARK: - The machine

    /// Tells the machine what has happened, and does what it says.
    ///
    /// From any thread. Earlier actions are done first, if need be by another thread: a client is
    /// not told how its take ended before it is told to wait for that.
    private func handle(_ event: RecorderMachine.Event) {
        let isFirst = core.withLock { core in
            core.actions += core.machine.handle(event)
            defer { core.isPerforming = true }
            return !core.isPerforming
        }
        guard isFirst else { return }
        while let action = nextAction() { perform(action) }
    }

    private func nextAction() -> RecorderMachine.Action? {
        core.withLock { core in
            let next = core.actions.popFirst()
            core.isPerforming = next != nil
            return next
        }
    }

    private func perform(_ action: RecorderMachine.Action) {
        switch action {
        case .reply(let reply, let client): server?.send(.reply(reply, client))
        case .result(let conclusion, let client, let wantsReport):
            let report = wantsReport ? conclusion.report : nil
            server?.send(.result(conclusion.answer, report: report, client))
        case .show(let status): server?.send(.change(status))
        case .obey(let request, let take, let client):
            guard let input = request.command.input else { return }
            dictation?.handle(
                input, of: request.key ?? "", at: request.instant ?? .now, onlyFor: take,
                first: { [self] in core.withLock { $0.request = request } },
                then: { [self] in handle(.carriedOut(request, $0, client)) })
        case .release(let number):
            let followed = core.withLock { $0.takes[number] }
            followed?.take.release(keepingAudioFor: followed?.audioTime)
        case .forget(let number): core.withLock { $0.takes[number] = nil }
        case .hold(let client):
            Task {
                // Nothing cancels it.
                try? await Task.sleep(for: Self.grace)
                handle(.overdue(client))
            }
        case .endTail(let number): core.withLock { $0.takes[number] }?.take.endTail()
        case .giveUp:
            owner.remove()
            server?.send(.giveUp)
        case .sweep: session.pipeline.sweep()
        case .report(let failure): CommandFailure(failure).report()
        case .tell(let conclusion):
            conclusion.tellUnclaimed()
            // The desktop shows a text that no place has taken.
            guard conclusion.answer.text != nil, conclusion.answer.placed != false else { return }
            core.withLock { $0.followed(conclusion.take) }?.notice?.tellUnplacedText()
        case .news(let news, let key, let client): tell(news, key, client)
        case .finish: dictation?.finish()
        }
    }

    /// Obeys a signal; false when the takes are to obey it.
    private func obey(_ request: Request) -> Bool {
        switch request {
        case .toggle: handle(.asked(ControlRequest(.toggle), nil))
        case .dismiss: handle(.asked(ControlRequest(.cancel), nil))
        case .line, .key: break
        case .cancel, .leave, .leaveNow:
            handle(.leave)
            return false
        }
        return true
    }

    func numbers(_ readiness: Readiness) -> MetricsServer.Source {
        MetricsServer.Source { [session] in
            session.pipeline.numbers.families + session.spool.families
        } obstacle: { [session] in
            session.running.farewell == nil ? readiness.obstacle : Readiness.ending
        }
    }

    func traceRequests() { session.pipeline.tracesRequests = true }

    // MARK: - Takes

    /// Shows a take to its end, and gives its text away behind that of another one; on the main thread.
    private func follow(
        _ take: Take, behind before: AsyncStream<Never>,
        _ given: AsyncStream<Never>.Continuation
    ) async {
        let followed = core.withLock { $0.followed(take.id) }
        var (session, notice) = (session, followed?.notice)
        session.audioTime = followed?.audioTime
        let reporter = TakeReporter(
            session, of: take, as: .recording, stopHint: "stop with: utter stop")
        var ended = await session.follow(take, by: take.delivery, reporter) { event in
            notice?.note(event)
            handle(.told(event, take.id))
        }
        if ended.transcript?.hasStopWord == true { dictation?.handle(.cancel) }
        await ended.confirmUnlessSettled()
        session.running.end(take, isUnprotected: ended.outcome.unprotected != nil)
        if case .failure(let failure) = ended.outcome.result { notice?.tell(failure) }
        let conclusion = ended.conclusion
        if conclusion.answer.exit == ExitStatus.tokenRefused.rawValue {
            plans.withLock { $0.forgetSecrets() }
        }
        for await _ in before {}
        handle(.concluded(conclusion))
        if let due = core.withLock({ $0.machine.due(take.id) }) {
            let complaints = await give(due.0, due.places)
            if !complaints.isEmpty { notice?.tellUnplacedText() }
            handle(.given(take.id, complaints: complaints))
        }
        given.finish()
        await wait(forOneWhoAsksFor: take.id)
    }

    /// Gives a text where its press says, on a thread of its own; what to tell of what went wrong.
    ///
    /// Names of places come from another process; a recorder of one press has its own.
    private func give(
        _ conclusion: TakeConclusion, _ names: [ControlRequest.Place]?
    ) async -> [ToldLine] {
        let sinks = names?.map { $0 == .type ? TextSink.keyboard : .clipboard }
        let texts =
            sinks.map { TextOutput($0, isUsual: false, form: .text, endsLines: true) }
            ?? session.texts
        let body: @Sendable () -> [ToldLine] = {
            let text = conclusion.answer.harmlessText
            return texts.give(text, printsUngiven: false) { _ in conclusion.report }.lines
        }
        // Without a thread the others wait.
        return (try? await NamedThread.result(name: "text", of: body).get()) ?? body()
    }

    private func wait(forOneWhoAsksFor take: TakeID) async {
        guard let number = core.withLock({ $0.machine.lingering(take) }) else {
            // Where the text is found is told when it is there.
            await session.pipeline.settled()
            return handle(.placed)
        }
        // Cancelled when the program ends, which has seen to it.
        try? await Task.sleep(for: Self.lingering)
        handle(.outwaited(number))
    }
}

extension Recorder: ControlHandler {
    func receive(_ request: ControlRequest, from client: ControlClientID) {
        handle(.asked(request, client))
    }

    func didEnd(_ client: ControlClientID, hasPrinted: Bool) {
        handle(.left(client, hasPrinted: hasPrinted))
    }

    func lacksDescriptor(_ error: SystemError) {
        StandardError.line("warning: no descriptor for a client: \(error.reason)")
    }
}

// The dictation's requests and news, on its thread.
extension Recorder {
    private func startTake(_ number: Int, _ stopWord: String?) -> Take? {
        var (plan, audioTime): (TakePlan, Duration?)
        let request = core.withLock { $0.request }
        do throws(CommandFailure) {
            guard !core.withLock({ $0.machine.isLeaving }) else {
                throw CommandFailure("the utter that records is about to end", status: .terminated)
            }
            guard ProcessLimits.areDescriptorsLeft(Self.takeDescriptors) else {
                throw CommandFailure(
                    "no take can begin: the utter that records has too many files open",
                    hint: SystemError(call: "dup", code: EMFILE).hint, status: .localIO)
            }
            (plan, audioTime) = try plans.withLock { plans throws(CommandFailure) in
                try plans.next(for: request)
            }
        } catch {
            handle(.failed(ControlFailure(error)))
            return nil
        }
        plan.delivery.rules.stopWord = stopWord
        let take = session.pipeline.start(plan)
        session.running.begin(take)
        let notice = DesktopNotice(take, in: session, isAsked: request?.notify == true)
        core.withLock { $0.takes[number] = (take, notice, audioTime) }
        handle(.began(number, take.id))
        return take
    }

    /// Tells what has happened to the person here, and to the client whose key has begun the take.
    private func tell(_ news: Dictation.News, _ key: String?, _ client: ControlClientID?) {
        let text: String
        switch news {
        case .limitNear(let time):
            text = "the recording ends in \(StatusLine.seconds(time)), and is sent"
        case .limitReached:
            text =
                key.map { "\($0) is taken to be stuck; the recording is sent" }
                ?? "the recording is as long as --max; it is sent"
        case .latched: text = "recording goes on; press \(key ?? "the key") once more to end it"
        // The answer tells the client that gave the command.
        case .alreadyRecording, .alreadyPaused, .notRecording, .onlyOne: return
        }
        if let client {
            var answer = ControlAnswer(.waiting)
            answer.message = text
            server?.send(.reply(.wait(answer), client))
        }
        if news != .latched { StandardError.line(text) }
    }
}

extension EndedTake {
    /// The words and the text for a client of the socket; writes a recording that is on no disk.
    fileprivate var conclusion: TakeConclusion {
        let text = transcript.flatMap { $0.text.isEmpty ? nil : $0.displayText }
        let warnings = outcome.notices.map { notice in
            ToldLine.line(notice == .protectedAgain ? notice.text : "warning: \(notice.text)")
        }
        var sound = outcome.capture.warnings()
        // The error says it.
        if case .failure(.capture(let error)) = outcome.result {
            sound.removeAll { $0 == error.description }
        }
        return TakeConclusion(
            take: take.id, exit: status.rawValue, text: text,
            lines: warnings + sound.map { .line("warning: \($0)") } + lines
                + (outcome.isAtRisk ? saveUnasked() : []),
            report: report(as: status).json, isSettled: isSettled)
    }
}

extension TakeConclusion {
    /// Tells the person at the recorder how a take ended whose text no client has got.
    fileprivate func tellUnclaimed() {
        answer.lines?.tell()
        guard answer.text != nil else { return }
        StandardError.line("the text of take \(take.text) was not printed")
        StandardError.hint("print it with: utter show \(take.shortName)")
    }
}
