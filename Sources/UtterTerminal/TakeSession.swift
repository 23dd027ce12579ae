// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
package import Utter

/// Runs takes in a terminal: shows what happens, obeys signals and keys, prints the answers.
package struct TakeSession {
    /// What a person sees a take doing.
    package enum Activity: Sendable, Equatable {
        /// A voice is recorded, until somebody says stop.
        case recording
        /// A voice is recorded for a time that was given.
        case recordingForTime
        /// A file, or standard input, is sent.
        case sending
    }

    /// By then the first bytes are on their way, which new page faults would only delay.
    private static let startUp = Duration.milliseconds(100)

    let pipeline: Pipeline
    private let signals: Signals
    let running = RunningTake()
    let output: OutputOptions
    private let keepsAudio: Bool

    /// Prepares to run takes.
    ///
    /// The audio stays on the disk after its transcript was printed if `keepsAudio`.
    init(pipeline: Pipeline, signals: Signals, output: OutputOptions, keepsAudio: Bool) {
        self.pipeline = pipeline
        self.signals = signals
        self.output = output
        self.keepsAudio = keepsAudio
        signals.handle { [running] in running.obey($0) }
    }

    /// Runs a take to its end.
    ///
    /// - Parameters:
    ///   - plan: what is recorded, and where it goes.
    ///   - activity: what a person sees it doing.
    ///   - place: which of several it is; nil when it is alone.
    /// - Returns: how the process should exit.
    package func run(
        _ plan: TakePlan, as activity: Activity, place: StatusLine.Place? = nil
    ) async -> ExitStatus {
        await follow(pipeline.start(plan), by: plan.delivery, as: activity, place: place)
    }

    /// Sends a take of an earlier run to its end.
    ///
    /// - Returns: how the process should exit.
    package func resend(_ folder: TakeFolder, by plan: DeliveryPlan) async -> ExitStatus {
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
        place: StatusLine.Place? = nil
    ) async -> ExitStatus {
        running.begin(take)
        var reporter = TakeReporter(
            options: output, activity: activity,
            stopHint: activity == .recording ? stopHint : nil, place: place,
            takeEchoedLines: { [signals] in signals.takeEchoedLines() })
        var startUpEnd: ContinuousClock.Instant? = .now + Self.startUp
        for await event in take.events {
            reporter.show(event)
            // From here on only the loops run: what start-up needed can go.
            if let end = startUpEnd, ContinuousClock.now >= end {
                ProgramText.releasePages()
                startUpEnd = nil
            }
        }
        var outcome = await take.outcome
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
        guard didPrint(outcome, status) else { return .localIO }
        tell(outcome)
        if !isKept(outcome) { take.release() }
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
        failure.report(json: output.json)
        return failure.status
    }

    /// How to exit when a signal has asked for it, or nil.
    package var farewellStatus: ExitStatus? { running.farewellStatus }

    /// Makes sure that the folder of takes is nobody else's, and that takes can be kept if that
    /// `isRequired`.
    ///
    /// - Throws: `CommandFailure` when they cannot.
    func checkStore(isRequired: Bool) throws(CommandFailure) {
        switch pipeline.store {
        case .failure(.notWanted): break
        case .failure(let error):
            if case .folderUnsafe = error { throw CommandFailure(error) }
            guard isRequired else { return }
            throw CommandFailure(error.description, hint: error.hint, status: .localIO)
        case .success(let store):
            guard isRequired, let shortage = store.shortage(by: pipeline.limits) else { return }
            throw CommandFailure(
                "the take cannot be kept: \(shortage.description)", status: .localIO)
        }
    }

    /// Waits for the disk, and ends.
    func end(_ status: ExitStatus) {
        running.finish(status)
        pipeline.sweep()
        pipeline.shutDown()
        // Nobody has heard of what failed after the last event.
        for take in pipeline.unwritten.all where !running.isUnprotected(take.id) {
            StandardError.line(
                "warning: what became of take \(take.id.text) is not on the disk: "
                    + take.reason)
        }
    }

    private var stopHint: String {
        signals.hasKeyboard ? "press Enter to stop" : "stop with: kill -USR1 \(getpid())"
    }

    // MARK: - What is printed

    /// Whether the audio is on the disk after the outcome was printed.
    func isKept(_ outcome: TakeOutcome) -> Bool {
        guard outcome.audioPath != nil, outcome.account.capturedFrames > 0 else { return false }
        guard case .success = outcome.result else { return true }
        return keepsAudio || !outcome.isWhole || outcome.imbalance != nil
    }

    /// Prints the transcript, or the object of `--json`.
    ///
    /// - Returns: false when standard output did not take it; the reason has been said then.
    private func didPrint(_ outcome: TakeOutcome, _ status: ExitStatus) -> Bool {
        let text: String
        if output.json {
            text = OutcomeReport(outcome, status: status, isKept: isKept(outcome)).json
        } else {
            guard case .success(let transcript) = outcome.result, !transcript.text.isEmpty
            else { return true }
            text = transcript.displayText
        }
        if StandardOutput.print(text) { return true }
        let reason = unsafe String(cString: strerror(errno))
        StandardError.error("the transcript cannot be printed: \(reason)")
        if case .success = outcome.result {
            tellWhatIsKept(outcome)
            if outcome.audioPath != nil {
                StandardError.hint("print it again with: utter show \(outcome.id.text)")
            }
        } else {
            tell(outcome)
        }
        return false
    }

    private func tell(_ outcome: TakeOutcome) {
        if let imbalance = outcome.imbalance {
            StandardError.error("the account of the take does not balance: \(imbalance)")
            StandardError.hint("this is a mistake in utter: please report it with 'utter show'")
        }
        if outcome.mayBeDoubled {
            // It may have been charged for, which is worth a warning.
            StandardError.line("sent twice: the service may have had the whole take before")
        }
        switch outcome.result {
        case .success(let transcript):
            if transcript.text.isEmpty && !output.quiet { StandardError.line("heard nothing") }
            if !outcome.isWhole {
                StandardError.line(
                    "warning: the service answered before it had the whole recording")
                tellWhatIsKept(outcome)
            } else if outcome.imbalance != nil || keepsAudio && !output.quiet {
                tellWhatIsKept(outcome)
            }
            if output.verbose { StandardError.write(TimeAccount(outcome).text) }
        case .failure(let failure):
            if failure == .cancelled || failure == .left {
                if !output.quiet { StandardError.line(failure.description) }
            } else {
                StandardError.error(failure.description)
                StandardError.hint(failure.hint)
            }
            tellWhatIsKept(outcome)
        }
    }

    private func tellWhatIsKept(_ outcome: TakeOutcome) {
        guard outcome.account.capturedFrames > 0 else { return }
        guard let path = outcome.audioPath else {
            StandardError.line("the recording was in memory only and is gone")
            return
        }
        guard outcome.unprotected == nil else {
            StandardError.line("kept, but may be incomplete: \(path)")
            return
        }
        let length = StatusLine.clock(.milliseconds(outcome.account.encodedFrames / 16))
        StandardError.line("kept: \(path) (\(length))")
        guard case .failure = outcome.result else { return }
        StandardError.hint("send it again with: utter retry \(outcome.id.text)")
    }
}

extension TakeOutcome {
    /// Whether the service had the whole recording before it answered.
    var isWhole: Bool { attempts.last?.result.isBodyComplete ?? true }
}

extension Pipeline {
    /// As long may a `utter list` hold the lock of a take that it brings to an end.
    private static let patience = Duration.seconds(2)

    /// Sends a kept take; waits a moment for its lock while another process looks at the take.
    ///
    /// - Throws: `TakeStoreError`.
    func patientlyResend(
        _ folder: TakeFolder, by plan: DeliveryPlan
    ) async throws(TakeStoreError) -> Take {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            do throws(TakeStoreError) {
                return try resend(folder, by: plan)
            } catch {
                guard case .inUse(_, _, isSending: false) = error, deadline > .now else {
                    throw error
                }
                guard await folder.isFree(by: deadline) else { throw error }
            }
        }
    }
}
