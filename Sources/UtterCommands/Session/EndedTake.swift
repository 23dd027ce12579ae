// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Utter
internal import UtterControl
internal import UtterTerminal

/// A take that a session, a recorder or a batch has followed to its end, and what is owed then: the
/// text, the words, a place for the recording.
struct EndedTake: Sendable {
    let session: TakeSession
    let take: Take
    /// How it was sent, as the command said it.
    let plan: DeliveryPlan
    var outcome: TakeOutcome

    var transcript: Transcript? {
        if case .success(let transcript) = outcome.result { transcript } else { nil }
    }

    /// Whether nothing is left to be done with the audio once the outcome was printed.
    var isSettled: Bool {
        transcript != nil && outcome.shortfall == nil && outcome.imbalance == nil
    }

    /// How the process should exit: a take that had to be kept, and is not, has failed whatever the
    /// service says.
    var status: ExitStatus {
        if case .failure(.left) = outcome.result,
            session.running.farewell == .leave(signal: SIGHUP)
        {
            return .hungUp
        }
        let status = ExitStatus(outcome)
        let isBroken = session.requiresKeep && outcome.unprotected != nil
        return isBroken && !status.isByRequest && status != .internalError ? .localIO : status
    }

    /// Waits for the disk, unless a text is there, which waits for none.
    mutating func confirmUnlessSettled() async { if !isSettled { await confirm() } }

    private mutating func confirm() async {
        outcome = await take.confirmed(outcome, isInHaste: session.running.farewell != nil)
    }

    /// Prints the text, says how the take ended, and lets go of it; how the process should exit.
    ///
    /// `screen` shows the takes that go on meanwhile, if any do. The person is asked what becomes of
    /// a recording that is on no disk if `mayAsk`.
    mutating func conclude(
        on screen: StatusScreen = .silent, mayAsk: Bool = true
    ) async -> ExitStatus {
        await confirmUnlessSettled()
        let status = status
        // A pipe may take its time; a terminal is the one that shows the line, and may be lent.
        let above = StandardOutput.columns == nil && !mayAsk ? .silent : screen
        let given = above.write { give(status, lendsTerminal: mayAsk) }
        var notice = DesktopNotice(take, in: session)
        if given.status != status { notice?.tellUnplacedText() }
        if case .failure(let failure) = outcome.result { notice?.tell(failure) }
        if isSettled, session.keepsAudio || !given.isSafe { await confirm() }
        guard given.isSafe else {
            screen.write { unprintedLines.tell() }
            return .localIO
        }
        screen.write { lines.tell() }
        if outcome.isAtRisk { await rescue(mayAsk: mayAsk) }
        await noteFile()
        release()
        return given.status
    }

    /// Gives the transcript to where it goes, and prints the object of `--json` or `--events`.
    ///
    /// A place that fails is said, and the text printed. A command has the terminal to itself if
    /// `lendsTerminal`: unless keys are read meanwhile.
    ///
    /// - Returns: how the process should exit, and whether the text is anywhere.
    func give(
        _ status: ExitStatus, lendsTerminal: Bool = true
    ) -> (status: ExitStatus, isSafe: Bool) {
        let name = session.namesTexts ? session.file : nil
        let label = name.map { TerminalText.singleLine(TerminalText.sanitized($0)) + ": " } ?? ""
        let object = { (hasFailed: Bool) in report(as: hasFailed ? status.withoutPlace : status) }
        var failures: [TextOutput.Failure] = []
        if let folder = session.folder, let file = session.file, let transcript,
            !transcript.text.isEmpty
        {
            do throws(CommandFailure) {
                try folder.write(
                    transcript, lasting: outcome.length, of: file, json: object(false).json)
            } catch {
                failures.append((.file(file), error))
            }
        }
        failures = session.texts.give(
            transcript?.displayText, label: label, after: failures, lendsTerminal: lendsTerminal
        ) { object($0).json }
        if session.output.events {
            let settled = outcome.times.settled ?? .zero
            do throws(CommandFailure) {
                try TextSink.standardOutput.take(
                    EventReport(object(!failures.isEmpty), at: settled).json)
            } catch {
                failures.append((.standardOutput, error))
            }
        }
        failures.lines.tell()
        let isSafe = !failures.contains { $0.sink == .standardOutput }
        return (failures.isEmpty ? status : status.withoutPlace, isSafe)
    }

    /// Says that the audio is needed no more, if that is so.
    func release() {
        if isSettled { take.release(keepingAudioFor: session.audioTime) }
    }

    func report(as status: ExitStatus) -> OutcomeReport {
        let isOnDisk = outcome.audioPath != nil && outcome.account.capturedFrames > 0
        let time = session.audioTime ?? session.pipeline.spool?.rules.retention.audio ?? .zero
        var outcome = outcome
        outcome.notices +=
            session.file.flatMap { session.fetchNotices[$0] }?.map { .ofSource($0) } ?? []
        return OutcomeReport(
            outcome, of: session.file, status: status,
            isKept: isOnDisk && (!isSettled || time > .zero))
    }

    /// Notes which file the take was made of, if it is kept whole, so that the next try goes on
    /// with it.
    private func noteFile() async {
        guard let file = session.file, let version = session.known.ended(take.id), !isSettled,
            outcome.audioPath != nil, outcome.unprotected == nil,
            outcome.capture.cause == .finished, !outcome.capture.isCut
        else { return }
        await session.pipeline.settled()
        session.known.note(file, of: version, as: take.id)
    }

    /// The take that the person wants to be sent once more, though the service may have it.
    func askedFor() async -> Take? {
        guard plan.retry.unknownOutcome == .ask, outcome.isUnknown, outcome.audioPath != nil,
            case .failure(let failure) = outcome.result, session.canAsk
        else { return nil }
        StandardError.error(failure.description)
        let question = "send it again? the service may have it already [y/N]"
        guard let answer = await session.answer(to: question, within: .seconds(30)),
            ["y", "yes"].contains(answer.lowercased())
        else { return nil }
        await session.pipeline.settled()
        do throws(TakeStoreError) {
            return try await session.pipeline.resend(take.id, by: plan)
        } catch {
            StandardError.error(error.description)
            return nil
        }
    }
}

extension ExitStatus {
    /// This status, or the one that says that a place did not take the text.
    fileprivate var withoutPlace: ExitStatus { self == .textPrinted ? .localIO : self }
}
