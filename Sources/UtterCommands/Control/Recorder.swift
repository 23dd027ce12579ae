// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization
internal import Utter
internal import UtterTerminal

/// Records takes that clients of the control socket begin and end, and gives them the texts.
///
/// What clients ask for comes on the control thread, is done on the thread of the dictation, and takes
/// are followed on the main one. A text is given once: to the first client that stopped its take,
/// or, when the recording ended without one, to the first that asks in the next moments.
final class Recorder: Sendable {
    /// One take, until its text is where it belongs.
    struct Entry {
        let number: Int
        let take: Take
        /// The client that gets the text.
        var claimant: ControlClientID?
        /// Whether that wants the object of `--json` too.
        var wantsReport = false
        /// Whether the recording was ended from outside, or is to be.
        var wasStopped = false
        var conclusion: TakeConclusion?
        var isPrinted = false
    }

    struct State {
        var entries: [Entry] = []
        var status = ControlStatus()
        var failure: CommandFailure?
        /// The stop or cancel that was begun last.
        var lastEnd: ProcessBeginning?
        /// Requests that the dictation has not carried out yet.
        var requests = 0
        var isLeaving = false
        /// Whether it ends: nothing begins any more.
        var isClosing = false
        var exit = ExitStatus.textPrinted
    }

    /// So long the text of a recording that ended by itself waits for the one who would have
    /// stopped it.
    static let lingering = Duration.seconds(30)

    /// The descriptors that a take needs at most: the device, the journal, its folder, the connection.
    private static let takeDescriptors = 12

    let session: TakeSession
    private let owner: ControlOwner
    private let isServiceUnset: Bool
    let state: Mutex<State>
    /// Apart from the state: secrets may take a while to be read.
    private let plans: Mutex<RecorderPlans>
    private let parts = Mutex<(dictation: Dictation, server: WorkerLoop<ControlWorker>)?>(nil)

    init(
        _ session: TakeSession, _ owner: ControlOwner, plans: consuming sending RecorderPlans,
        isDaemon: Bool,
        isServiceUnset: Bool
    ) {
        (self.session, self.owner, self.isServiceUnset) = (session, owner, isServiceUnset)
        self.plans = Mutex(plans)
        var first = State()
        (first.status.isDaemon, first.status.process) = (isDaemon, getpid())
        // The first request is that of the command itself.
        if !isDaemon { first.requests = 1 }
        state = Mutex(first)
    }

    var dictation: Dictation? { parts.withLock { $0?.dictation } }
    /// Serves the clients, on a thread of its own.
    var server: WorkerLoop<ControlWorker>? { parts.withLock { $0?.server } }

    /// Serves clients, and begins with `input` if there is one, until all is done.
    func run(
        _ input: Dictation.Input?, longest: Duration, isReady: () -> Void = {}
    ) async throws(CommandFailure) -> ExitStatus {
        let takes: AsyncStream<Take>
        do throws(SystemError) {
            // Under the lock: what comes at once finds both.
            takes = try parts.withLock { parts throws(SystemError) in
                let dictation = try Dictation(longest: longest) { [self] in startTake($0) }
                let takes = dictation.takes
                dictation.observe(
                    show: { [self] in show($0) }, tell: { [self] in tell($0) })
                if let input { dictation.handle(input) { [self] in began($0) } }
                parts = (dictation, try ControlWorker.serve(owner, self))
                return takes
            }
        } catch {
            owner.remove()
            throw CommandFailure(error)
        }
        // A signal that came before finds nothing to begin or end.
        _ = session.running.attach { [self] in obey($0) }
        isReady()
        await withDiscardingTaskGroup { group in
            for await take in takes { group.addTask { [self] in await follow(take) } }
            group.cancelAll()
        }
        owner.remove()
        dictation?.shutDown()
        server?.shutDown()
        plans.withLock { $0.shutDown() }
        return state.withLock { $0.exit }
    }

    /// Makes ready what the first take needs; what is wrong is said, and said again to the one who
    /// starts it.
    func prepare() {
        do throws(CommandFailure) {
            _ = try plans.withLock { plans throws(CommandFailure) in try plans.prepare() }
        } catch {
            error.report()
        }
    }

    /// The request of the command itself was carried out.
    private func began(_ reply: Dictation.Reply?) {
        let failure = state.withLock { state in
            state.requests -= 1
            if let failure = state.failure { state.exit = failure.status }
            return state.failure
        }
        failure?.report()
        forgetOver()
    }

    /// Ends the program when nothing is left to be done.
    func closeIfDone() {
        let isDone = state.withLock { state in
            guard !state.isClosing, state.isLeaving || !state.status.isDaemon,
                state.entries.isEmpty, state.requests == 0
            else { return false }
            state.isClosing = true
            return true
        }
        if isDone { dictation?.finish() }
    }

    // MARK: - Signals

    /// Obeys a signal; false when the takes are to obey it.
    private func obey(_ request: Request) -> Bool {
        switch request {
        case .toggle:
            dictation?.handle(.toggle) { [self] reply in
                if case .stopped(let number)? = reply { change(number) { $0.wasStopped = true } }
            }
            return true
        case .dismiss:
            dictation?.handle(.cancel)
            return true
        case .line, .key: return true
        case .cancel, .leave, .leaveNow:
            leave()
            return false
        }
    }

    /// Begins nothing any more.
    private func leave() {
        state.withLock { $0.isLeaving = true }
        for number in state.withLock({ $0.entries.filter { $0.isLingering }.map(\.number) }) {
            expire(number)
        }
        closeIfDone()
    }

    // MARK: - Takes

    func change(_ number: Int, _ body: (inout Entry) -> Void) {
        state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.number == number }) else {
                return
            }
            body(&state.entries[index])
        }
    }

    /// Shows a take to its end, and gives its text away; on the main thread.
    private func follow(_ take: Take) async {
        var reporter = TakeReporter(
            session, as: .recording, stopHint: "stop with: utter stop",
            isServiceUnset: isServiceUnset)
        for await event in take.events {
            reporter.show(event)
            if session.requiresKeep, case .noticed(.unprotected) = event { take.stop() }
            show(event, of: take)
        }
        var outcome = await take.outcome
        // A text waits for no disk.
        if !session.isSettled(outcome) {
            let isInHaste = session.running.farewell != nil
            outcome = await take.confirmed(outcome, isInHaste: isInHaste)
        }
        session.running.end(take, isUnprotected: outcome.unprotected != nil)
        reporter.reportRest(of: outcome.notices)
        reporter.end()
        var conclusion = session.conclusion(
            of: outcome, by: take.delivery,
            hungUp: session.running.farewell == .leave(signal: SIGHUP),
            isServiceUnset: isServiceUnset)
        if outcome.isAtRisk {
            let isWanted = session.pipeline.mayWriteElsewhere
            conclusion.lines +=
                Rescue(take, outcome, by: take.delivery, isWanted: isWanted).saveUnasked()
        }
        await give(conclusion)
        closeIfDone()
    }

    /// Gives the end of a take to the client that waits for it, or waits for one.
    private func give(_ conclusion: TakeConclusion) async {
        if conclusion.status == .tokenRefused { plans.withLock { $0.forgetSecrets() } }
        let entry = state.withLock { state -> Entry? in
            state.exit = state.status.isDaemon ? .textPrinted : conclusion.status
            guard
                let index = state.entries.firstIndex(where: { $0.take.id == conclusion.take })
            else { return nil }
            state.entries[index].conclusion = conclusion
            if state.isLeaving { state.entries[index].wasStopped = true }
            return state.entries[index]
        }
        guard let entry else { return }
        if let client = entry.claimant {
            server?.send(conclusion.message(for: client, wantsReport: entry.wantsReport))
        } else if entry.isLingering {
            // Cancelled when the program ends, which has seen to it.
            try? await Task.sleep(for: Self.lingering)
            expire(entry.number)
        } else {
            // Where the text is found is told when it is there.
            await session.pipeline.settled()
            forgetOver()
        }
    }

    /// Lets go of takes that have ended, and whose text is printed or asked for by no client.
    ///
    /// Not while a request is carried out: it may be for one of them.
    func forgetOver() {
        for entry in state.withLock({ $0.removeOver() }) { entry.tellUnclaimed() }
        closeIfDone()
    }

    /// Stops to wait for one who asks for a text.
    func expire(_ number: Int) {
        let entry = state.withLock { state -> Entry? in
            let entry = state.entries.first { $0.number == number && $0.isLingering }
            if entry != nil { state.entries.removeAll { $0.number == number } }
            return entry
        }
        entry?.tellUnclaimed()
        closeIfDone()
    }

    // MARK: - What happens

    private func show(_ event: TakeEvent, of take: Take) {
        let status = state.withLock { state -> ControlStatus? in
            guard state.status.take == take.id.text else { return nil }
            switch event {
            case .progress(let progress):
                state.status.elapsedMs = Int(progress.elapsed / .milliseconds(1))
                // Without a zero that is negative.
                let level = (Double(progress.level.peakDecibels) * 10).rounded() / 10 + 0
                state.status.level = progress.isComplete ? nil : level
            case .heard(let transcript): state.status.hear(transcript.displayText)
            case .captured: state.status.level = nil
            default: return nil
            }
            return state.status
        }
        if let status { server?.send(.change(status)) }
    }
}

// What the dictation asks for, and tells, on its thread.
extension Recorder {
    private func startTake(_ number: Int) -> Take? {
        let plan: TakePlan
        do throws(CommandFailure) {
            try state.withLock { state throws(CommandFailure) in
                state.failure = nil
                guard state.isLeaving else { return }
                throw CommandFailure("the utter that records is about to end", status: .terminated)
            }
            guard ProcessLimits.areDescriptorsLeft(Self.takeDescriptors) else {
                throw CommandFailure(
                    "no take can begin: the utter that records has too many files open",
                    hint: Hints.of(SystemError(call: "dup", code: EMFILE)), status: .localIO)
            }
            plan = try plans.withLock { plans throws(CommandFailure) in try plans.next() }
        } catch {
            state.withLock { $0.failure = error }
            return nil
        }
        let take = session.pipeline.start(plan)
        session.running.begin(take)
        state.withLock { $0.entries.append(Entry(number: number, take: take)) }
        return take
    }

    private func tell(_ news: Dictation.News) {
        switch news {
        case .limitNear(let time):
            StandardError.line("the recording ends in \(StatusLine.seconds(time)), and is sent")
        case .limitReached: StandardError.line("the recording is as long as --max; it is sent")
        // Those who gave the command are told.
        case .alreadyRecording, .notRecording, .latched, .onlyOne: break
        }
    }

    private func show(_ shown: Dictation.State) {
        let status = state.withLock { state in
            let id = state.entries.first { $0.number == shown.take }?.take.id.text
            if id != state.status.take {
                (state.status.elapsedMs, state.status.text, state.status.level) = (0, "", nil)
            }
            (state.status.take, state.status.phase) = (id, shown.phase)
            return state.status
        }
        server?.send(.change(status))
    }
}

extension Recorder.Entry {
    /// Whether its text waits for one who asks for it.
    var isLingering: Bool { claimant == nil && !wasStopped && conclusion?.text != nil }

    /// Tells the person at the recorder how a take ended whose text no client has got.
    func tellUnclaimed() {
        guard let conclusion, !isPrinted else { return }
        conclusion.lines.tell()
        guard conclusion.text != nil else { return }
        StandardError.line("the text of take \(conclusion.take.text) was not printed")
        StandardError.hint("print it with: utter show \(conclusion.take.text)")
    }
}
