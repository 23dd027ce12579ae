// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// Tells a person how a take ended, once its transcript has been printed.
struct OutcomeTelling {
    /// Below this, in dBFS, a recording holds no voice that anything understands.
    private static let quiet: Float = -50

    private let outcome: TakeOutcome
    private let output: OutputOptions
    /// Whether the person has asked for the audio.
    private let keepsAudio: Bool
    private let isServiceUnset: Bool

    init(
        _ outcome: TakeOutcome, output: OutputOptions, keepsAudio: Bool, isServiceUnset: Bool
    ) {
        self.outcome = outcome
        self.output = output
        self.keepsAudio = keepsAudio
        self.isServiceUnset = isServiceUnset
    }

    /// Tells everything that is worth a line.
    func tell() {
        if let imbalance = outcome.imbalance {
            StandardError.error("the account of the take does not balance: \(imbalance)")
            StandardError.hint("this is an error inside utter: please report it with 'utter show'")
        }
        if outcome.mayBeDoubled {
            // It may have been charged for, which is worth a warning.
            StandardError.line("sent twice: the service may have had the whole take before")
        }
        switch outcome.result {
        case .success(let transcript):
            if !outcome.isWhole {
                tellPart()
            } else if transcript.text.isEmpty {
                if !output.quiet { tellNothingHeard() }
            } else if outcome.imbalance != nil || keepsAudio && !output.quiet {
                tellWhatIsKept()
            }
            if output.verbose { StandardError.write(TimeAccount(outcome).text) }
        case .failure(let failure):
            if case .tooShort = failure {
                if !output.quiet { StandardError.line(failure.description) }
                return
            }
            if failure == .cancelled || failure == .left {
                if !output.quiet { StandardError.line(failure.description) }
            } else {
                let isUnset = isServiceUnset && failure.isOfConnecting
                StandardError.error(isUnset ? TakeSession.serviceUnset : failure.description)
                if !isUnset { StandardError.hint(Hints.of(failure)) }
            }
            tellWhatIsKept()
        }
    }

    /// Says where the recording is.
    func tellWhatIsKept() {
        guard outcome.account.capturedFrames > 0 else { return }
        guard let path = outcome.audioPath else {
            if !outcome.isAtRisk {
                StandardError.line("the recording was in memory only, and is gone")
            }
            return
        }
        guard outcome.unprotected == nil else {
            StandardError.line("on the disk, but it may be incomplete: \(path)")
            return
        }
        StandardError.line("kept: \(path) (\(StatusLine.clock(outcome.length)))")
        guard case .failure = outcome.result else { return }
        StandardError.hint("send it again with: utter retry \(outcome.id.text)")
    }

    private func tellPart() {
        StandardError.line("warning: \(outcome.shortfall ?? "the service answered early")")
        StandardError.hint(
            "if the service decides when you have finished, say so with --endpointing; if it "
                + "takes no chunked body, send the take with: utter retry \(outcome.id.text) "
                + "--framing length")
        tellWhatIsKept()
    }

    private func tellNothingHeard() {
        let isVoiceless = outcome.capture.hasVoice == false
        let peak = outcome.peakDecibels.map { "; the peak level was \(Int($0.rounded())) dBFS" }
        StandardError.line(
            isVoiceless ? outcome.shortfall ?? "no speech heard" : "heard nothing" + (peak ?? ""))
        tellWhatIsKept()
        guard outcome.audioPath != nil else { return }
        let id = outcome.id.text
        let isQuiet = outcome.peakDecibels.map { $0 < Self.quiet } ?? false
        StandardError.hint(
            isQuiet
                ? "the recording is nearly silent: check the microphone, and hear it with: "
                    + "utter play \(id)"
                : "check language, model and --content-type; hear it with: utter play \(id); send "
                    + "it again with: utter retry \(id)")
    }
}
