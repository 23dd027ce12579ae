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
    var audioTime: Duration?
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
    /// Remarks about files that were fetched, by their paths; the person has been told.
    var fetchNotices: [String: [String]] = [:]
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

    /// Makes sure that the folder of takes is ours alone, and that takes can be kept, if they must.
    func checkStore() throws(CommandFailure) {
        guard let spool = pipeline.spool else { return }
        do throws(TakeStoreError) {
            _ = try spool.store()
        } catch {
            if case .folderUnsafe = error { throw CommandFailure(error) }
            guard requiresKeep else { return }
            throw CommandFailure(error.description, hint: error.hint, status: .localIO)
        }
        guard requiresKeep, let shortage = spool.shortage else { return }
        throw CommandFailure(
            "the take cannot be kept: \(shortage.description)", hint: Hints.of(shortage),
            status: .localIO)
    }

    /// Runs a take to its end; how the process should exit.
    package func run(_ plan: TakePlan, as activity: Activity) async -> ExitStatus {
        var plan = plan
        let take = await begin(&plan)
        return await settle(show(take, by: plan.delivery, as: activity))
    }

    /// Begins a take, or goes on with the one that is kept of the same file.
    func begin(_ plan: inout TakePlan) async -> Take {
        prepare(&plan.delivery)
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

    private var showsLine: Bool { StandardError.isTerminal && !output.quiet }

    /// Has a take tell how far it has come, where something shows that, and write cassettes.
    func prepare(_ plan: inout DeliveryPlan) {
        plan.reportsProgress = output.events || showsLine
        plan.observing = cassettes?.observing
        ServiceOptions.complete(&plan)
    }

    /// Sends a take of an earlier run to its end; how the process should exit.
    func resend(_ id: TakeID, by plan: DeliveryPlan) async -> ExitStatus {
        var plan = plan
        prepare(&plan)
        do throws(TakeStoreError) {
            let take = try await pipeline.resend(id, by: plan)
            return await settle(show(take, by: plan, as: .sending))
        } catch {
            return refuse(CommandFailure(error))
        }
    }

    private func show(
        _ take: Take, by plan: DeliveryPlan, as activity: Activity
    ) async -> EndedTake {
        running.begin(take)
        let screen = makeScreen()
        let reporter = TakeReporter(self, of: take, as: activity, on: screen)
        let ended = await show(take, by: plan, reporter, endsWithSilence: true)
        screen.end()
        return ended
    }

    /// Tells how a take ended, or sends it once more when the person wants that.
    func settle(_ ended: EndedTake) async -> ExitStatus {
        var ended = ended
        while let again = await ended.askedFor() {
            let before = ended.outcome.attempts
            ended = await show(again, by: ended.plan, as: .sending)
            ended.outcome.attempts = before + ended.outcome.attempts
        }
        return await ended.conclude()
    }

    /// The screen that shows all takes of this session, where one line does; silent elsewhere.
    func makeScreen() -> StatusScreen { showsLine ? StatusScreen(isLive: true) : .silent }

    /// Follows a take that a person has begun here: with tones, and events for `--events`.
    func show(
        _ take: Take, by plan: DeliveryPlan, _ reporter: TakeReporter,
        endsWithSilence: Bool = false
    ) async -> EndedTake {
        let cues = reporter.isOfVoice ? cues : nil
        cues?.prepare(warning: reporter.warning)
        return await follow(take, by: plan, reporter) { event in
            if endsWithSilence, case .quiet = event { take.stop() }
            tell(event, of: take)
            cues?.note(event)
        }
    }

    /// Follows a take to its end; a voice that had to be kept, and is not, is recorded no longer.
    func follow(
        _ take: Take, by plan: DeliveryPlan, _ reporter: TakeReporter? = nil,
        noting note: (TakeEvent) -> Void = { _ in }
    ) async -> EndedTake {
        var reporter = reporter
        for await event in take.events {
            if requiresKeep, reporter?.isOfVoice == true, case .noticed(.unprotected) = event {
                take.stop()
            }
            reporter?.show(event)
            note(event)
        }
        let outcome = await take.outcome
        running.end(take, isUnprotected: outcome.unprotected != nil)
        reporter?.reportRest(of: outcome.notices)
        reporter?.end()
        return EndedTake(session: self, take: take, plan: plan, outcome: outcome)
    }

    /// Prints what has happened, for `--events`.
    func tell(_ event: TakeEvent, of take: Take) {
        guard output.events else { return }
        // A reader that has left misses events; the outcome tells that.
        _ = StandardOutput.print(EventReport(event, of: take.id, file, at: .now - take.began).json)
    }

    /// Gives a text that belongs to no take of this run to where texts go.
    func give(_ text: String) -> ExitStatus {
        let failures = texts.give(text) { _ in text }
        failures.lines.tell()
        return failures.isEmpty ? .textPrinted : .localIO
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

    /// Whether the audio stays though the take was answered.
    var keepsAudio: Bool { (audioTime ?? .zero) > .zero }

    /// Whether a person is there to answer, and does not want to leave.
    var canAsk: Bool { signals.hasTerminal && running.farewell == nil }

    /// Reads an answer; nil when no line comes, or the person wants to leave.
    func answer(to question: String, within time: Duration) async -> String? {
        StandardError.question(question)
        let answer = await signals.line(within: time) { [running] in running.farewell != nil }
        if answer == nil { StandardError.write("\n") }
        return answer
    }
}
