// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LinuxPlatform
import RecognitionEndpoint
import UtterCommands
internal import UtterTerminal

struct RecogniseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recogniser",
        abstract: "Recognise what comes on standard input, as docs/recogniser.md says.",
        shouldDisplay: false)

    @Argument(help: "The kind of the search, its file, the acoustic model and the dictionary.")
    var model: [String]

    func run() throws {
        guard let model = RecognitionModel(arguments: model) else {
            throw ValidationError("A model has four arguments.")
        }
        var program = PocketSphinxProgram()
        throw ExitCode(program.run(model))
    }
}

extension Recogniser {
    static func chosen(command: String?, grammar: String?, memory: Int? = nil) -> Recogniser {
        guard let command else {
            return .pocketSphinx(
                grammar.map { .grammar($0) } ?? .languageModel,
                by: Launch.programFolder + "/utter-endpoint")
        }
        var recogniser = Recogniser.command(command)
        if let memory { recogniser.memoryLimit = memory << 20 }
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
