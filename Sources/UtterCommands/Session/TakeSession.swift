// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
package import Utter

/// Runs takes in a terminal: shows what happens, obeys signals and keys, prints the answers.
package struct TakeSession {
    /// What a person sees a take doing.
    package enum Activity: Sendable, Equatable {
        /// A voice is recorded, until a person says stop.
        case recording
        /// A voice is recorded for a time that was given.
        case recordingForTime
        /// A file is sent as fast as it can be read.
        case sending
        /// A file is sent at a pace, or standard input as it comes.
        case relaying

        /// Whether nothing is recorded here.
        var isSending: Bool { self == .sending || self == .relaying }
    }

    let pipeline: Pipeline
    private let signals: Signals
    let running = RunningTake()
    let output: OutputOptions
    /// How long the audio of an answered take stays; nil for as long as is usual.
    let audioTime: Duration?
    /// Who is told of takes that have ended, for `--trace`.
    let trace: TraceFile?
    /// Where requests and their answers are written; nil is nowhere.
    let cassettes: CassetteFolder?
    /// Finds takes on the disk, with the key that this session has.
    let lookup: TakeLookup

    /// What to say when nothing listens where a service is looked for that nothing names.
    static let serviceUnset =
        "no service is set, and none listens at \(ServiceOptions.localURL): start one with "
        + "'utter serve', or name yours with --to or UTTER_URL"
    /// The file whose take runs, as the person named it; nil for microphones and kept takes.
    package var file: String?
    /// Whether each text stands behind the name of its file.
    package var namesTexts = false

    /// Prepares to run takes.
    init(
        pipeline: Pipeline, signals: Signals, output: OutputOptions, audioTime: Duration?,
        lookup: TakeLookup, trace: TraceFile? = nil, cassettes: CassetteFolder? = nil
    ) {
        self.trace = trace
        self.cassettes = cassettes
        self.lookup = lookup
        self.pipeline = pipeline
        self.signals = signals
        self.output = output
        self.audioTime = audioTime
        signals.handle { [running] in running.obey($0) }
    }

    /// Runs a take to its end.
    ///
    /// - Parameters:
    ///   - plan: what is recorded, and where it goes.
    ///   - activity: what a person sees it doing.
    ///   - place: which of several it is; nil when it is alone.
    ///   - isServiceUnset: whether neither the command line nor the environment names a service.
    /// - Returns: how the process should exit.
    package func run(
        _ plan: TakePlan, as activity: Activity, place: StatusLine.Place? = nil,
        isServiceUnset: Bool = false
    ) async -> ExitStatus {
        var plan = plan
        plan.delivery.reportsProgress = showsProgress
        plan.delivery.cassettes = cassettes
        return await follow(
            pipeline.start(plan), by: plan.delivery, as: activity, place: place,
            isServiceUnset: isServiceUnset)
    }

    /// Whether there is a line that shows how far a take has come.
    private var showsProgress: Bool { StandardError.isTerminal && !output.quiet }

    /// Sends a take of an earlier run to its end.
    ///
    /// - Returns: how the process should exit.
    package func resend(_ folder: TakeFolder, by plan: DeliveryPlan) async -> ExitStatus {
        var plan = plan
        plan.reportsProgress = showsProgress
        plan.cassettes = cassettes
        do throws(TakeStoreError) {
            return await follow(
                try await pipeline.patientlyResend(folder, by: plan), by: plan, as: .sending)
        } catch {
            return refuse(CommandFailure(error))
        }
    }

    /// Shows a take, whose attempts of a moment ago are `before`, to its end.
    private func follow(
        _ take: Take, by plan: DeliveryPlan, as activity: Activity, before: [TakeAttempt] = [],
        place: StatusLine.Place? = nil, isServiceUnset: Bool = false
    ) async -> ExitStatus {
        running.begin(take)
        var reporter = TakeReporter(
            options: output, activity: activity,
            stopHint: activity == .recording ? stopHint : nil, place: place,
            isInMemory: isInMemory, isServiceUnset: isServiceUnset,
            shortage: { [pipeline] in pipeline.shortage },
            takeEchoedLines: { [signals] in signals.takeEchoedLines() })
        let cues = makeCues(for: activity, warning: reporter.warning)
        // After the text: a tone is nothing to wait for.
        defer { cues?.finish() }
        for await event in take.events {
            reporter.show(event)
            cues?.note(event, of: take)
        }
        var outcome = await take.outcome
        trace?.add(outcome)
        running.end(take, isUnprotected: outcome.unprotected != nil)
        outcome.attempts = before + outcome.attempts
        reporter.reportRest(of: outcome.notices)
        reporter.end()
        if plan.retry.unknownOutcome == .ask, let again = await askedFor(outcome, by: plan) {
            return await follow(again, by: plan, as: .sending, before: outcome.attempts)
        }
        var status = ExitStatus(outcome)
        if case .failure(.left) = outcome.result, running.farewell == .leave(signal: SIGHUP) {
            status = .hungUp
        }
        let telling = OutcomeTelling(
            outcome, output: output, keepsAudio: audioTime.map { $0 > .zero } ?? false,
            isServiceUnset: isServiceUnset)
        guard didPrint(outcome, status, telling) else { return .localIO }
        telling.lines.tell()
        if outcome.isAtRisk { await rescue(take, outcome, by: plan) }
        if isSettled(outcome) { take.release(keepingAudioFor: audioTime) }
        return status
    }

    /// A take that the person wants to be sent once more, though the service may have it.
    private func askedFor(_ outcome: TakeOutcome, by plan: DeliveryPlan) async -> Take? {
        guard outcome.isUnknown, outcome.audioPath != nil, signals.hasTerminal,
            case .failure(let failure) = outcome.result, running.farewell == nil
        else { return nil }
        StandardError.error(failure.description)
        StandardError.write("utter: send it again? the service may have it already [y/N] ")
        let answer = await signals.line(within: .seconds(30)) { [running] in
            running.farewell != nil
        }
        if answer == nil { StandardError.write("\n") }
        guard let answer, ["y", "yes"].contains(answer.lowercased()),
            case .success(let store) = pipeline.store
        else { return nil }
        await pipeline.settled()
        do throws(TakeStoreError) {
            return try await pipeline.patientlyResend(try store.find(outcome.id.text), by: plan)
        } catch {
            StandardError.error(error.description)
            return nil
        }
    }

    /// Says why there is no take.
    ///
    /// - Returns: how the process should exit.
    package func refuse(_ failure: CommandFailure) -> ExitStatus {
        failure.report(json: output.json, file: file)
        return failure.status
    }

    /// How to exit when a signal has asked for it, or nil.
    package var farewellStatus: ExitStatus? { running.farewellStatus }

    /// Makes sure that the folder of takes is ours alone, and that takes can be kept if that
    /// `isRequired`.
    ///
    /// - Throws: `CommandFailure` when they cannot.
    func checkStore(isRequired: Bool) throws(CommandFailure) {
        switch pipeline.store {
        case .failure(.notWanted): break
        case .failure(let error):
            if case .folderUnsafe = error { throw CommandFailure(error) }
            guard isRequired else { return }
            throw CommandFailure(error.description, hint: Hints.of(error), status: .localIO)
        case .success:
            guard isRequired, let shortage = pipeline.shortage else { return }
            throw CommandFailure(
                "the take cannot be kept: \(shortage.description)", hint: Hints.of(shortage),
                status: .localIO)
        }
    }

    /// Waits for the disk, and ends.
    func end(_ status: ExitStatus) {
        running.finish(status)
        pipeline.sweep()
        pipeline.shutDown()
        // What failed after the last event has not been told yet.
        for take in pipeline.unwritten.all where !running.isUnprotected(take.id) {
            StandardError.line(
                "warning: the outcome of take \(take.id.text) is not on the disk: "
                    + take.reason)
        }
    }

    private var stopHint: String {
        signals.hasKeyboard ? "press Enter to stop" : "stop with: kill -USR1 \(getpid())"
    }

    // MARK: - What is printed

    /// Whether nothing is left to be done with the audio of a take once its outcome was printed.
    func isSettled(_ outcome: TakeOutcome) -> Bool {
        guard case .success = outcome.result else { return false }
        return outcome.shortfall == nil && outcome.imbalance == nil
    }

    /// Whether the audio is on the disk after the outcome was printed.
    func isKept(_ outcome: TakeOutcome) -> Bool {
        guard outcome.audioPath != nil, outcome.account.capturedFrames > 0 else { return false }
        return !isSettled(outcome) || (audioTime ?? pipeline.retention.audio) > .zero
    }

    /// Prints the transcript, or the object of `--json`.
    ///
    /// - Returns: false when standard output did not take it; the reason has been said then.
    private func didPrint(
        _ outcome: TakeOutcome, _ status: ExitStatus, _ telling: OutcomeTelling
    ) -> Bool {
        let text: String
        if output.json {
            text =
                OutcomeReport(outcome, of: file, status: status, isKept: isKept(outcome)).json
        } else {
            guard case .success(let transcript) = outcome.result, !transcript.text.isEmpty
            else { return true }
            let name = namesTexts ? file : nil
            let label = name.map { TerminalText.singleLine(TerminalText.sanitized($0)) + ": " }
            text = (label ?? "") + transcript.displayText
        }
        if StandardOutput.print(text) { return true }
        let reason = unsafe String(cString: strerror(errno))
        StandardError.error("the transcript cannot be printed: \(reason)")
        if case .success = outcome.result {
            telling.keptLines.tell()
            if outcome.audioPath != nil {
                StandardError.hint("print it again with: utter show \(outcome.id.text)")
            }
        } else {
            telling.lines.tell()
        }
        return false
    }

    // MARK: - What lives in memory only

    /// Whether takes live in memory from their beginning.
    private var isInMemory: Bool {
        if case .failure = pipeline.store { true } else { false }
    }

    /// Finds another place for a recording without an answer that the disk has not taken.
    ///
    /// A person is asked. Without one it is written to a folder for temporary files, unless nothing
    /// is to be written, or nothing in the clear.
    private func rescue(
        _ take: Take, _ outcome: TakeOutcome, by plan: DeliveryPlan
    ) async {
        let rescue = Rescue(
            take, outcome, by: plan,
            isWanted: pipeline.store.failure != .notWanted && !pipeline.encrypts)
        guard signals.hasTerminal, running.farewell == nil else {
            return rescue.saveUnasked().tell()
        }
        StandardError.write(rescue.question)
        let answer = await signals.line(within: .seconds(60)) { [running] in
            running.farewell != nil
        }
        if answer == nil { StandardError.write("\n") }
        rescue.save(answer: answer).tell()
    }
}

extension TakeOutcome {
    /// Whether the recording is needed still, and not whole on the disk.
    var isAtRisk: Bool {
        guard account.capturedFrames > 0, audioPath == nil || unprotected != nil else {
            return false
        }
        if case .failure(.cancelled) = result { return false }
        if case .success = result { return shortfall != nil }
        return true
    }
}

extension Result where Failure == TakeStoreError {
    fileprivate var failure: TakeStoreError? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension Pipeline {
    /// As long may a `utter list` hold the lock of a take that it brings to an end.
    private static let patience = Duration.seconds(2)

    /// Sends a kept take; waits a moment for its lock while another process looks at the take.
    ///
    /// - Throws: `TakeStoreError`.
    func patientlyResend(
        _ folder: TakeFolder, by plan: DeliveryPlan, ifStillAfter attempts: Int? = nil
    ) async throws(TakeStoreError) -> Take {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            do throws(TakeStoreError) {
                return try resend(folder, by: plan, ifStillAfter: attempts)
            } catch {
                guard case .inUse(_, _, isSending: false) = error, deadline > .now else {
                    throw error
                }
                guard await folder.isFree(by: deadline) else { throw error }
            }
        }
    }
}
