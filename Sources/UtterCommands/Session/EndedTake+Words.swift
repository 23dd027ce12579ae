// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Utter
internal import UtterControl
internal import UtterTerminal

// The words to a person about the end of a take, once its transcript has been printed.
extension EndedTake {
    /// Below this, in dBFS, a recording holds no voice that anything understands.
    private static let quiet: Float = -50

    /// In bytes, of a recording without sound, of any form.
    private static let longestHeader = 128

    var lines: [ToldLine] { outcomeLines + brokenPromise }

    /// Says of a take that standard output has not taken where the text is.
    var unprintedLines: [ToldLine] {
        guard case .success = outcome.result else { return outcomeLines }
        guard outcome.audioPath != nil else { return keptLines }
        return keptLines + [.hint("print it again with: utter last \(outcome.id.shortName)")]
    }

    private var brokenPromise: [ToldLine] {
        guard session.requiresKeep, let reason = outcome.unprotected else { return [] }
        return [.error("the take could not be kept: \(reason)")]
    }

    private var outcomeLines: [ToldLine] {
        var lines: [ToldLine] = []
        let output = session.output
        if let imbalance = outcome.imbalance {
            lines.append(.error(named("the account of the take does not balance: \(imbalance)")))
            lines.append(
                .hint("this is an error inside utter: please report it with 'utter show'"))
        }
        if outcome.isRepeated {
            // It may have been charged for, which is worth a warning.
            lines.append(
                .line(
                    named("sent twice: the service may have had \(outcome.doubledPart) before")))
        }
        switch outcome.result {
        case .success(let transcript):
            if !outcome.hadAll {
                lines += partLines
            } else if outcome.isStored {
                if !output.quiet { lines.append(.line(named("stored"))) }
            } else if transcript.text.isEmpty, transcript.raw != nil {
                if !output.quiet, !transcript.hasStopWord {
                    lines.append(.line(named("the rules for texts leave nothing of what was said")))
                    lines.append(.hint("see it with: utter show \(outcome.id.shortName)"))
                }
            } else if transcript.text.isEmpty {
                if !output.quiet { lines += nothingHeardLines }
            } else if outcome.imbalance != nil || session.keepsAudio && !output.quiet {
                lines += keptLines
            }
            if output.verbose { lines.append(.plain(outcome.timeAccount)) }
        case .failure(let failure):
            if case .tooShort = failure {
                return output.quiet ? lines : lines + [.line(failure.description)]
            }
            if failure == .cancelled || failure == .left {
                if !output.quiet { lines.append(.line(named(failure.description))) }
            } else {
                let isUnset = plan.isUnset && failure.isOfConnecting
                let tokenSource = plan.service.credentials.first?.source
                let hint =
                    isUnset
                    ? Hints.serviceUnset : Hints.of(failure, tokenFrom: tokenSource, by: plan)
                lines.append(
                    .error(named(isUnset ? TakeSession.serviceUnset : failure.description)))
                if let hint { lines.append(.hint(hint)) }
            }
            lines += keptLines
        }
        return lines
    }

    /// Puts the name of the file before the text, where several files are sent.
    private func named(_ text: String) -> String {
        guard session.namesTexts, let file = session.file else { return text }
        return "\(file): \(text)"
    }

    private var keptLines: [ToldLine] {
        guard outcome.account.capturedFrames > 0 else { return [] }
        guard let path = outcome.audioPath else {
            return outcome.isAtRisk || isOfFile
                ? [] : [.line("the recording was in memory only, and is gone")]
        }
        guard outcome.unprotected == nil else {
            return isGone(path) ? [] : [.line("on the disk, but it may be incomplete: \(path)")]
        }
        let doubt = outcome.isConfirmed ? "" : ", which the disk has not confirmed yet"
        let kept = ToldLine.line("kept: \(path) (\(StatusLine.clock(outcome.length)))\(doubt)")
        guard case .failure = outcome.result else { return [kept] }
        if outcome.capture.isCut, isOfFile {
            return [kept, .hint("that is a part only: send the file once more")]
        }
        return [kept, .hint("send it again with: utter retry \(outcome.id.shortName)")]
    }

    /// Whether a full disk is known to have nothing: a header alone goes when its program ends.
    private func isGone(_ path: String) -> Bool {
        if let byteCount = KnownFiles.byteCount(of: path) {
            return byteCount <= Self.longestHeader
        }
        return unsafe access(path.cPath, F_OK) != 0 && errno == ENOENT
    }

    private var partLines: [ToldLine] {
        let hint =
            "if the service decides when you have finished, say so: -c transfer.endpointing=true; if it "
            + "does not take a chunked body, send the take with: utter retry \(outcome.id.shortName) "
            + "-c transfer.framing=length"
        return [
            .line("warning: " + named(outcome.shortfall ?? "the service answered early")),
            .hint(hint),
        ] + keptLines
    }

    private var nothingHeardLines: [ToldLine] {
        let isVoiceless = outcome.capture.hasVoice == false
        let peak = outcome.peakDecibels.map { "; the peak level was \(Int($0.rounded())) dBFS" }
        let text =
            isVoiceless ? outcome.shortfall ?? "no speech heard" : "heard nothing" + (peak ?? "")
        let lines = [.line(named(text))] + keptLines
        guard outcome.audioPath != nil else { return lines }
        let id = outcome.id.shortName
        let isQuiet = outcome.peakDecibels.map { $0 < Self.quiet } ?? false
        let hint =
            isQuiet
            ? "the recording is nearly silent: check the microphone, and hear it with: "
                + "utter play \(id)"
            : "check language, model and body.content-type; hear it with: utter play \(id); send "
                + "it again with: utter retry \(id)"
        return lines + [.hint(hint)]
    }
}
