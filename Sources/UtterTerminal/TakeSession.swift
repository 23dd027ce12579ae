// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
package import Utter

/// Runs one take in a terminal: shows what happens, obeys signals and keys, prints the answer.
package struct TakeSession {
    private let pipeline: Pipeline
    private let signals: Signals
    private let output: OutputOptions
    private let keepsAudio: Bool

    /// Prepares to run takes.
    ///
    /// - Parameter keepsAudio: whether the audio stays on the disk after its transcript was
    ///   printed.
    package init(pipeline: Pipeline, signals: Signals, output: OutputOptions, keepsAudio: Bool) {
        self.pipeline = pipeline
        self.signals = signals
        self.output = output
        self.keepsAudio = keepsAudio
    }

    /// Runs a take to its end.
    ///
    /// - Parameter stopHint: how a person ends the recording, or nil when it ends by itself.
    /// - Returns: how the process should exit.
    package func run(_ plan: TakePlan, stopHint: String?) async -> ExitStatus {
        await follow(pipeline.start(plan), stopHint: stopHint)
    }

    /// Sends a take of an earlier run to its end.
    ///
    /// - Throws: `CommandFailure` when the take cannot be read.
    package func resend(
        _ folder: TakeFolder, by plan: DeliveryPlan
    ) async throws(CommandFailure) -> ExitStatus {
        let take: Take
        do throws(TakeStoreError) {
            take = try pipeline.resend(folder, by: plan)
        } catch {
            throw CommandFailure(error)
        }
        return await follow(take, stopHint: nil)
    }

    private func follow(_ take: Take, stopHint: String?) async -> ExitStatus {
        let requests = Task { await obey(take) }
        var reporter = TakeReporter(options: output, stopHint: stopHint)
        for await event in take.events {
            reporter.show(event)
            // From here on only the loops run: what start-up needed can go.
            if case .connected = event { ProgramText.releasePages() }
        }
        let outcome = await take.outcome
        requests.cancel()
        reporter.clear()
        let status = report(outcome, requested: await requests.value)
        if case .success = outcome.result, !keepsAudio, status != .localIO, outcome.isWhole {
            take.release()
        }
        return status
    }

    /// Obeys until the take is over; returns the signal that ended it, if one did.
    private func obey(_ take: Take) async -> Int32? {
        var cancelled: ContinuousClock.Instant?
        for await request in signals.requests {
            switch request {
            case .stop: take.stop()
            case .cancel:
                // The second Ctrl-C means: leave now, whatever still waits for a disk.
                if cancelled != nil { _exit(ExitStatus.cancelled.rawValue) }
                cancelled = .now
                take.cancel()
            case .leave(let number):
                take.leave()
                return number
            }
        }
        return nil
    }

    private func report(_ outcome: TakeOutcome, requested signal: Int32?) -> ExitStatus {
        let status = signal == SIGHUP ? .hungUp : ExitStatus(outcome)
        if output.json {
            guard StandardOutput.print(OutcomeReport(outcome, status: status).json) else {
                return outputLost(outcome)
            }
        }
        if outcome.mayBeDoubled && !output.quiet {
            StandardError.line("sent twice: the service may have had the whole take before")
        }
        switch outcome.result {
        case .success(let transcript):
            if !output.json && !transcript.text.isEmpty {
                guard StandardOutput.print(transcript.displayText) else {
                    return outputLost(outcome)
                }
            }
            if transcript.text.isEmpty && !output.quiet {
                StandardError.line("heard nothing")
            }
            if !outcome.isWhole {
                StandardError.line(
                    "warning: the service answered before it had the whole recording")
                keptLine(outcome)
            } else if keepsAudio {
                keptLine(outcome)
            }
            if output.verbose { StandardError.write(TimeAccount(outcome).text) }
        case .failure(let failure):
            if failure == .cancelled || failure == .left {
                if !output.quiet { StandardError.line(failure.description) }
            } else {
                StandardError.error(failure.description)
                StandardError.hint(failure.hint)
            }
            keptLine(outcome)
        }
        return status
    }

    private func keptLine(_ outcome: TakeOutcome) {
        guard outcome.account.capturedFrames > 0 else { return }
        guard let path = outcome.audioPath, outcome.unprotected == nil else {
            StandardError.line("the recording was in memory only and is gone")
            return
        }
        let seconds = StatusLine.clock(
            .milliseconds(outcome.account.encodedFrames / 16))
        StandardError.line("kept: \(path) (\(seconds))")
        if case .failure = outcome.result {
            StandardError.hint("send it again with: utter retry \(outcome.id.text)")
        }
    }

    private func outputLost(_ outcome: TakeOutcome) -> ExitStatus {
        let reason = unsafe String(cString: strerror(errno))
        StandardError.error("the transcript cannot be printed: \(reason)")
        keptLine(outcome)
        return .localIO
    }
}

extension TakeOutcome {
    /// Whether the service had the whole recording before it answered.
    var isWhole: Bool { attempts.last?.result.isBodyComplete ?? true }
}
