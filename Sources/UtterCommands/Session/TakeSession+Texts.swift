// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Utter
internal import UtterControl
internal import UtterTerminal

extension TakeSession {
    /// Prints what has happened, for `--events`.
    func tell(_ event: TakeEvent, of take: Take) {
        guard output.events else { return }
        // A reader that has left misses events; the outcome tells that.
        _ = StandardOutput.print(EventReport(event, of: take.id, file, at: .now - take.began).json)
    }

    /// Gives the transcript to where it goes, and prints the object of `--json` or `--events`.
    ///
    /// A place that fails is said, and the text printed. A command has the terminal to itself if
    /// `lendsTerminal`: unless keys are read meanwhile.
    ///
    /// - Returns: how the process should exit, and whether the text is anywhere.
    func give(
        _ outcome: TakeOutcome, _ status: ExitStatus, lendsTerminal: Bool = true
    ) -> (status: ExitStatus, isSafe: Bool) {
        var text: String?
        if case .success(let transcript) = outcome.result { text = transcript.displayText }
        let name = namesTexts ? file : nil
        let label = name.map { TerminalText.singleLine(TerminalText.sanitized($0)) + ": " } ?? ""
        let report = { (hasFailed: Bool) in
            OutcomeReport(
                outcome, of: file, status: hasFailed ? status.withoutPlace : status,
                isKept: isKept(outcome))
        }
        var failures: [TextOutput.Failure] = []
        if let folder, let file, case .success(let transcript) = outcome.result,
            !transcript.text.isEmpty
        {
            do throws(CommandFailure) {
                try folder.write(transcript, of: file, json: report(false).json)
            } catch {
                failures.append((.file(file), error))
            }
        }
        failures = texts.give(
            text, label: label, after: failures, lendsTerminal: lendsTerminal
        ) { report($0).json }
        if output.events {
            let event = EventReport(report(!failures.isEmpty), at: outcome.times.settled ?? .zero)
            do throws(CommandFailure) {
                try TextSink.standardOutput.take(event.json)
            } catch {
                failures.append((.standardOutput, error))
            }
        }
        failures.lines.tell()
        let isSafe = !failures.contains { $0.sink == .standardOutput }
        return (failures.isEmpty ? status : status.withoutPlace, isSafe)
    }

    /// Gives a text that belongs to no take of this run to where texts go.
    func give(_ text: String) -> ExitStatus {
        let failures = texts.give(text) { _ in text }
        failures.lines.tell()
        return failures.isEmpty ? .textPrinted : .localIO
    }

    /// Says where the text is that standard output has not taken.
    func tellUnprinted(_ outcome: TakeOutcome, _ telling: OutcomeTelling) {
        guard case .success = outcome.result else { return telling.lines.tell() }
        telling.keptLines.tell()
        if outcome.audioPath != nil {
            StandardError.hint("print it again with: utter show \(outcome.id.shortName)")
        }
    }
}

extension ExitStatus {
    /// Learns of one of several, of which the first that failed counts.
    mutating func fail(_ status: ExitStatus) { if self == .textPrinted { self = status } }

    /// This status, or the one that says that a place did not take the text.
    fileprivate var withoutPlace: ExitStatus { self == .textPrinted ? .localIO : self }
}

// The promises about the disk.
extension TakeSession {
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

    /// How the process should exit after a take: one that had to be kept, and is not, has failed
    /// whatever the service says.
    func status(of outcome: TakeOutcome) -> ExitStatus {
        if case .failure(.left) = outcome.result, running.farewell == .leave(signal: SIGHUP) {
            return .hungUp
        }
        let status = ExitStatus(outcome)
        let isBroken = requiresKeep && outcome.unprotected != nil
        return isBroken && !status.isByRequest && status != .internalError ? .localIO : status
    }

    func brokenPromise(_ outcome: TakeOutcome) -> [ToldLine] {
        guard requiresKeep, let reason = outcome.unprotected else { return [] }
        return [.error("the take could not be kept: \(reason)")]
    }
}
