// SPDX-License-Identifier: Apache-2.0

internal import CassetteRecording
internal import LinuxPlatform
package import Utter
internal import UtterTerminal

/// Runs takes in a terminal: shows what happens, obeys signals and keys, prints the answers.
package struct TakeSession {
    package enum Activity: Sendable, Equatable {
        case recording
        case recordingForTime
        /// A file is sent as fast as it can be read.
        case sending
        /// A file is sent at a pace, or standard input as it comes.
        case relaying

        /// Whether nothing is recorded here.
        var isSending: Bool { self == .sending || self == .relaying }
    }

    let pipeline: Pipeline
    let signals: Signals
    let running: RunningTake
    let output: OutputOptions
    let texts: TextOutput
    /// The player of the tones of recordings; nil when none are wanted.
    private let cues: CuePlayer?
    /// How long the audio of an answered take stays; nil for as long as is usual.
    let audioTime: Duration?
    /// The folder for requests and their answers; nil: they are not written.
    let cassettes: CassetteFolder?
    /// The takes on the disk, with the key that this session has.
    let spool: Spool
    let known: KnownFiles

    /// The message when no service is set, and none listens where one is looked for.
    static let serviceUnset =
        "no service is set, and none listens at \(ServiceOptions.localURL)"
    /// The file whose take runs, as the person named it; nil for microphones and kept takes.
    var file: String?
    /// The folder for a file's text; nil: none.
    var folder: TranscriptFolder?
    /// Whether each text stands behind the name of its file.
    var namesTexts = false
    /// Whether no take may run that the disk does not keep.
    var requiresKeep = false

    init(
        pipeline: Pipeline, signals: Signals, running: RunningTake, output: OutputOptions,
        texts: TextOutput, audioTime: Duration?, spool: Spool, cassettes: CassetteFolder?
    ) {
        (self.pipeline, self.signals, self.running) = (pipeline, signals, running)
        (self.output, self.texts, self.audioTime) = (output, texts, audioTime)
        (self.spool, self.cassettes) = (spool, cassettes)
        known = KnownFiles(in: pipeline.spool)
        // Without a descriptor there is no tone.
        cues = output.cue ? try? CuePlayer() : nil
        signals.handle { [running] in running.obey($0) }
    }

    /// Says before a voice is recorded that nothing is there to understand it; it is kept then.
    func warnOfNoService(_ service: ServiceOptions) {
        guard service.isServiceUnset, !ServiceOptions.listensLocally else { return }
        StandardError.line("warning: \(Self.serviceUnset); what you say is kept")
        StandardError.hint(Hints.serviceUnset)
    }

    /// Runs a take to its end; how the process should exit.
    package func run(_ plan: TakePlan, as activity: Activity) async -> ExitStatus {
        var plan = plan
        watch(&plan.delivery)
        return await follow(begin(plan), by: plan.delivery, as: activity)
    }

    /// Begins a take, or goes on with the one that is kept of the same file.
    func begin(_ plan: TakePlan) async -> Take {
        if let file, let kept = known.take(of: file, for: plan.delivery),
            // A take that another process sends is no reason not to send the file.
            let take = try? await pipeline.resend(kept, by: plan.delivery)
        {
            return take
        }
        let version = file.flatMap { FileVersion(of: $0) }
        let take = pipeline.start(plan)
        known.began(take.id, version)
        return take
    }

    /// Notes which file a take was made of that is kept whole, so that the next try goes on with it.
    func noteFile(of outcome: TakeOutcome) async {
        guard let file, let version = known.ended(outcome.id), !isSettled(outcome),
            outcome.audioPath != nil, outcome.unprotected == nil,
            outcome.capture.cause == .finished, !outcome.capture.isCut
        else { return }
        await pipeline.settled()
        known.note(file, of: version, as: outcome.id)
    }

    private var showsLine: Bool { StandardError.isTerminal && !output.quiet }

    /// Has a take tell how far it has come, where something shows that, and write cassettes.
    func watch(_ plan: inout DeliveryPlan) {
        plan.reportsProgress = output.events || showsLine
        plan.observing = cassettes?.observing
        ServiceOptions.shorten(&plan)
    }

    /// Sends a take of an earlier run to its end; how the process should exit.
    func resend(_ id: TakeID, by plan: DeliveryPlan) async -> ExitStatus {
        var plan = plan
        watch(&plan)
        do throws(TakeStoreError) {
            return await follow(try await pipeline.resend(id, by: plan), by: plan, as: .sending)
        } catch {
            return refuse(CommandFailure(error))
        }
    }

    /// Shows a take, whose attempts of a moment ago are `before`, to its end.
    private func follow(
        _ take: Take, by plan: DeliveryPlan, as activity: Activity, before: [TakeAttempt] = []
    ) async -> ExitStatus {
        running.begin(take)
        let screen = makeScreen()
        let outcome = await watch(
            take, TakeReporter(self, of: take, as: activity, on: screen), before: before,
            endsWithSilence: true)
        screen.end()
        return await settle(take, outcome, by: plan)
    }

    /// Tells how a take ended, or sends it once more when the person wants that.
    func settle(
        _ take: Take, _ outcome: TakeOutcome, by plan: DeliveryPlan
    ) async -> ExitStatus {
        if plan.retry.unknownOutcome == .ask, let again = await askedFor(outcome, by: plan) {
            return await follow(again, by: plan, as: .sending, before: outcome.attempts)
        }
        return await conclude(take, outcome, by: plan)
    }

    /// The screen that shows all takes of this session, where one line does; silent elsewhere.
    func makeScreen() -> StatusScreen { showsLine ? StatusScreen(isLive: true) : .silent }

    /// Shows a take to its end; its attempts `before` count too.
    func watch(
        _ take: Take, _ reporter: TakeReporter, before: [TakeAttempt] = [],
        endsWithSilence: Bool = false
    ) async -> TakeOutcome {
        var reporter = reporter
        let cues = reporter.isOfVoice ? cues : nil
        cues?.prepare(warning: reporter.warning)
        for await event in take.events {
            if endsWithSilence, case .quiet = event { take.stop() }
            if requiresKeep, reporter.isOfVoice, case .noticed(.unprotected) = event { take.stop() }
            reporter.show(event)
            tell(event, of: take)
            cues?.note(event)
        }
        var outcome = await take.outcome
        running.end(take, isUnprotected: outcome.unprotected != nil)
        outcome.attempts = before + outcome.attempts
        reporter.reportRest(of: outcome.notices)
        reporter.end()
        return outcome
    }

    /// Prints the text of a take, says how it ended, and lets go of it; how the process should exit.
    ///
    /// `screen` shows the takes that go on meanwhile, if any do. The person is asked what becomes of
    /// a recording that is on no disk if `mayAsk`.
    func conclude(
        _ take: Take, _ outcome: TakeOutcome, by plan: DeliveryPlan,
        on screen: StatusScreen = .silent, mayAsk: Bool = true
    ) async -> ExitStatus {
        let isInHaste = running.farewell != nil
        // A text waits for no disk.
        var outcome =
            isSettled(outcome) ? outcome : await take.confirmed(outcome, isInHaste: isInHaste)
        let status = status(of: outcome)
        // A pipe may take its time; a terminal is the one that shows the line, and may be lent.
        let above = StandardOutput.columns == nil && !mayAsk ? .silent : screen
        let given = above.write { give(outcome, status, lendsTerminal: mayAsk) }
        var notice = DesktopNotice(take, in: self)
        if given.status != status { notice?.tellUnplacedText() }
        if case .failure(let failure) = outcome.result { notice?.tell(failure) }
        if isSettled(outcome), keepsAudio || !given.isSafe {
            outcome = await take.confirmed(outcome, isInHaste: isInHaste)
        }
        let telling = OutcomeTelling(session: self, outcome: outcome, plan: plan)
        guard given.isSafe else {
            screen.write { tellUnprinted(outcome, telling) }
            return .localIO
        }
        screen.write { (telling.lines + brokenPromise(outcome)).tell() }
        if outcome.isAtRisk { await rescue(take, outcome, by: plan, mayAsk: mayAsk) }
        await noteFile(of: outcome)
        if isSettled(outcome) { take.release(keepingAudioFor: audioTime) }
        return given.status
    }

    /// A take that the person wants to be sent once more, though the service may have it.
    private func askedFor(_ outcome: TakeOutcome, by plan: DeliveryPlan) async -> Take? {
        guard outcome.isUnknown, outcome.audioPath != nil, signals.hasTerminal,
            case .failure(let failure) = outcome.result, running.farewell == nil
        else { return nil }
        StandardError.error(failure.description)
        let question = "send it again? the service may have it already [y/N]"
        guard let answer = await answer(to: question, within: .seconds(30)),
            ["y", "yes"].contains(answer.lowercased())
        else { return nil }
        await pipeline.settled()
        do throws(TakeStoreError) {
            return try await pipeline.resend(outcome.id, by: plan)
        } catch {
            StandardError.error(error.description)
            return nil
        }
    }

    func refuse(_ failure: CommandFailure) -> ExitStatus {
        failure.report(as: output.form, file: file)
        return failure.status
    }

    /// How to exit when a signal has asked for it, or nil.
    var farewellStatus: ExitStatus? { running.farewellStatus }

    /// Waits for the disk, and a while for the archive, and ends.
    func end(_ status: ExitStatus) async {
        // After the text: a tone is nothing to wait for.
        cues?.finish()
        if spool.archive != nil, running.farewell == nil { await waitForArchive() }
        running.finish(status)
        pipeline.sweep()
        pipeline.shutDown()
        // A failure after the last event has not been told yet.
        for take in pipeline.unwritten.all where !running.isUnprotected(take.id) {
            StandardError.line(
                "warning: the outcome of take \(take.id.text) is not on the disk: "
                    + take.reason)
        }
        if let failure = cassettes?.failure {
            StandardError.line("warning: a cassette is missing: \(failure.description)")
        }
    }

    /// Waits for the archive, until the person wants to leave; the next command stores the rest.
    private func waitForArchive() async {
        // A wrong setting has ended the command before.
        let limit = (try? KnownSettings.archiveTime.value()?.duration) ?? .seconds(5)
        // Close stdout first: readers wait for EOF.
        StandardOutput.end()
        let waiting = Task { [pipeline] in await pipeline.restOfArchive() }
        let timer = Task {
            // Cancelled when the archive has all.
            guard (try? await Task.sleep(for: limit)) != nil else { return false }
            waiting.cancel()
            return true
        }
        running.whenLeaving { waiting.cancel() }
        guard var report = await waiting.value else { return timer.cancel() }
        timer.cancel()
        if await timer.value, report.waiting > 0 {
            let time = StatusLine.seconds(limit)
            report.reason = report.reason ?? "it has not taken all within \(time)"
        }
        // That all went well is nothing to tell.
        report.stored = 0
        if !output.quiet { report.lines.tell() }
    }

    // MARK: - What is kept

    /// Whether the audio stays though the take was answered.
    var keepsAudio: Bool { (audioTime ?? .zero) > .zero }

    /// Whether nothing is left to be done with the audio of a take once its outcome was printed.
    func isSettled(_ outcome: TakeOutcome) -> Bool {
        guard case .success = outcome.result else { return false }
        return outcome.shortfall == nil && outcome.imbalance == nil
    }

    /// Whether the audio is on the disk after the outcome was printed.
    func isKept(_ outcome: TakeOutcome) -> Bool {
        guard outcome.audioPath != nil, outcome.account.capturedFrames > 0 else { return false }
        return !isSettled(outcome)
            || (audioTime ?? pipeline.spool?.retention.audio ?? .zero) > .zero
    }

    // MARK: - What lives in memory only

    /// Finds another place for a recording without an answer that the disk has not taken.
    ///
    /// A person is asked. Without one it is written to a folder for temporary files, unless nothing
    /// is to be written, or nothing in the clear.
    private func rescue(
        _ take: Take, _ outcome: TakeOutcome, by plan: DeliveryPlan, mayAsk: Bool
    ) async {
        let rescue = Rescue(
            take: take, outcome: outcome, plan: plan, isWanted: pipeline.mayWriteElsewhere)
        // The file that was sent is still there, so that nothing is lost.
        if !rescue.isWanted, let file, KnownFiles.byteCount(of: file) != nil {
            return StandardError.line("not kept: send the file once more")
        }
        guard mayAsk, signals.hasTerminal, running.farewell == nil else {
            return rescue.saveUnasked().tell()
        }
        rescue.save(answer: await answer(to: rescue.question, within: .seconds(60))).tell()
    }

    /// Reads an answer; nil when no line comes, or the person wants to leave.
    private func answer(to question: String, within time: Duration) async -> String? {
        StandardError.question(question)
        let answer = await signals.line(within: time) { [running] in running.farewell != nil }
        if answer == nil { StandardError.write("\n") }
        return answer
    }
}

extension TakeOutcome {
    /// Whether the recording is needed still, and not whole on the disk.
    var isAtRisk: Bool {
        guard account.capturedFrames > 0, audioPath == nil || unprotected != nil else {
            return false
        }
        if case .failure(let failure) = result, failure.isUnwanted { return false }
        if case .success = result { return shortfall != nil }
        return true
    }
}
