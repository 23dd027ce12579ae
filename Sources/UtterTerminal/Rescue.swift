// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Utter

/// Another place for a recording that lives in memory only when its take ends without an answer.
struct Rescue {
    private let take: Take
    private let outcome: TakeOutcome
    /// Whether the person has not ruled out such a file.
    private let isWanted: Bool

    init(_ take: Take, _ outcome: TakeOutcome, isWanted: Bool) {
        self.take = take
        self.outcome = outcome
        self.isWanted = isWanted
    }

    /// The question to a person, whose answer is a line.
    var question: String {
        "utter: save the recording (\(StatusLine.clock(outcome.length))) as \(standardPath)? "
            + (isWanted ? "[Y/n, or another name] " : "[y/N, or another name] ")
    }

    /// Does what the person has answered; without an answer, what is usual.
    func save(answer: String?) {
        switch (answer ?? "").lowercased() {
        case "": saveUnasked()
        case "y", "yes": save(to: standardPath)
        case "n", "no": StandardError.line("the recording was in memory only, and is gone")
        default: save(to: answer ?? standardPath)
        }
    }

    /// Writes the recording, unless the person has ruled that out.
    func saveUnasked() {
        guard isWanted else {
            StandardError.line("the recording was in memory only, and is gone")
            return
        }
        save(to: standardPath)
    }

    private func save(to path: String) {
        do throws(SystemError) {
            try take.writeAudio(to: path)
        } catch {
            StandardError.error("the recording cannot be saved: \(error.description)")
            StandardError.line("the recording was in memory only, and is gone")
            return
        }
        StandardError.line("saved: \(path)")
        StandardError.hint("send it with: utter send \(ShellWord.quoted(path))")
    }

    private var standardPath: String {
        let folder = Environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        return "\(folder)/utter-\(outcome.id.text).\(take.audioExtension)"
    }
}
