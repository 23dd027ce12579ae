// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Utter
internal import UtterControl
internal import UtterTerminal

// Another place for a recording that lives in memory only when its take ends without an answer.
extension EndedTake {
    /// Whether the person has not ruled out a file that the disk's folder does not hold.
    private var isWanted: Bool { session.pipeline.spool.map { !$0.encrypts } ?? false }

    /// Whether the file that was sent is still there; a pipe can be read once.
    var isOfFile: Bool { session.file.flatMap(KnownFiles.byteCount) != nil }

    /// Finds another place for a recording without an answer that the disk has not taken.
    ///
    /// A person is asked. Without one it is written to a folder for temporary files, unless nothing
    /// is to be written, or nothing in the clear.
    func rescue(mayAsk: Bool) async {
        // Nothing is lost.
        if !isWanted, isOfFile {
            return StandardError.line("not kept: send the file once more")
        }
        guard mayAsk, session.canAsk else { return saveUnasked().tell() }
        save(answer: await session.answer(to: question, within: .seconds(60))).tell()
    }

    private var question: String {
        "save the recording (\(StatusLine.clock(outcome.length))) as \(places[0])? "
            + (isWanted ? "[Y/n, or another name]" : "[y/N, or another name]")
    }

    /// Does what the person has answered; without an answer, what is usual.
    ///
    /// A name at which nothing can be written is no reason to lose the recording.
    private func save(answer: String?) -> [ToldLine] {
        let words = TerminalText.singleLine(answer ?? "")
        return switch words.lowercased() {
        case "": saveUnasked()
        case "y", "yes": save(at: places)
        case "n", "no": [gone]
        default: save(at: [expanded(words)] + places)
        }
    }

    func saveUnasked() -> [ToldLine] { isWanted ? save(at: places) : [gone] }

    private func save(at places: [String]) -> [ToldLine] {
        var lines: [ToldLine] = []
        for path in places {
            let silence: Duration
            do throws(SystemError) {
                silence = try take.writeAudio(to: path)
            } catch {
                lines.append(.error("the recording cannot be saved: \(error.description)"))
                continue
            }
            let hint =
                "send it with the options of this command: utter send \(ShellWord.quoted(path)) "
                + "--to \(ShellWord.quoted(plan.service.url.text))"
            let loss =
                silence > .zero
                ? "; \(silence.secondsText) of it cannot be read from the disk and are silent" : ""
            return lines + [.line("saved: \(path)\(loss)"), .hint(hint)]
        }
        return lines + [gone]
    }

    private var gone: ToldLine {
        outcome.audioPath == nil
            ? .line("the recording was in memory only, and is gone")
            : .line("what the disk does not have of the recording was in memory only, and is gone")
    }

    /// A folder for temporary files, and what there is without one.
    private var places: [String] {
        let name = "utter-\(outcome.id.text).\(take.audioExtension)"
        let folders = [Environment["TMPDIR"], "/tmp", Environment["HOME"]]
            .compactMap { $0.flatMap { $0.hasPrefix("/") ? $0 : nil } }
        return folders.map { "\($0)/\(name)" } + [name]
    }

    private func expanded(_ path: String) -> String {
        guard path.hasPrefix("~/"), let home = Environment["HOME"] else { return path }
        return home + path.dropFirst(1)
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
