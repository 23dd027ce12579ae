// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LinuxPlatform
import RecognitionEndpoint
import UtterCommands
internal import UtterTerminal

extension Recogniser {
    /// The program that a command runs, or else the one of this package, with a grammar if any.
    static func chosen(
        command: String?, grammar: String?, memory: Int? = nil
    ) throws(CommandFailure) -> Recogniser {
        var recogniser: Recogniser
        if let command {
            recogniser = .command(command)
            if let memory { recogniser.memoryLimit = memory << 20 }
        } else {
            let options = grammar.map { ["-jsgf", $0] } ?? []
            let words = [try OtherProgram.ear.path()] + options
            recogniser = .command("exec " + words.map(ShellWord.quoted).joined(separator: " "))
            // The length of its utterances bounds its memory.
            recogniser.memoryLimit = nil
        }
        recogniser.environment = Environment.all { name in
            Self.names.contains(name) || name.hasPrefix("LC_") || name.hasPrefix("XDG_")
        }
        return recogniser
    }

    /// Variables that a program may need; no name of a token is among them.
    private static let names: Set = ["PATH", "HOME", "LANG", "TMPDIR", "TZ", "USER", "LOGNAME"]
}

extension ServeCommand {
    func check(_ recogniser: Recogniser) async throws {
        let sample = try DemoCommand.sample()
        let (early, wakeup) = (EarlyEnd(), try Wakeup())
        try early.listen { _ in
            wakeup.signal()
            return false
        }
        let isGood = try await NamedThread.result(name: "check") { () throws(SystemError) in
            RecogniserCheck.run(
                recogniser, on: sample, wokenBy: wakeup, while: { !early.hasCome }
            ) { finding in
                let mark = finding.isGood ? "ok" : "failed"
                // A reader that has read enough does not change what is found.
                _ = StandardOutput.print("\(mark): \(finding.name): \(finding.detail)")
            }
        }.get()
        try early.check()
        guard isGood else { throw ExitStatus.configuration.code }
    }
}
