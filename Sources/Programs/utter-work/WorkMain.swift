// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
import UtterCommands

/// The program behind `utter fleet`.
@main
struct WorkMain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "utter-work",
        abstract: "Transcribe what lies in a store, on as many machines as there are.",
        discussion: """
            Recordings and results lie in a store that speaks S3, and a queue (NATS JetStream)
            says which machine does what. Without a subcommand this is a worker. 'utter fleet'
            is the same program.
            """,
        version: "utter \(UtterVersion.text)",
        subcommands: [
            WorkCommand.self, SubmitCommand.self, FleetStatusCommand.self, CheckCommand.self,
            RetryDeadCommand.self, DeadCommand.self,
        ],
        defaultSubcommand: WorkCommand.self)

    static func main() { Program.run(WorkMain.self) }
}
