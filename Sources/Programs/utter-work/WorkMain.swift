// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
import UtterCommands

struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Transcribe what lies in a store, on as many machines as there are.",
        discussion: """
            Recordings and results lie in a store that speaks S3, and a queue (NATS JetStream)
            says which machine does what. Without another word this is a worker; the program
            utter-work is the same.

            Each recording gets one result, whatever dies meanwhile. docs/fleet.md says what is
            promised, and how workers run under systemd, Slurm and Kubernetes.
            """,
        subcommands: commands, defaultSubcommand: WorkCommand.self)

    static let commands: [any ParsableCommand.Type] = [
        WorkCommand.self, SubmitCommand.self, FleetStatusCommand.self, CheckCommand.self,
        RetryDeadCommand.self, DeadCommand.self,
    ]
}

/// The same where the program is called by its own name.
struct WorkerProgram: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "utter-work",
        abstract: FleetCommand.configuration.abstract,
        discussion: FleetCommand.configuration.discussion,
        version: "utter \(UtterVersion.text)", subcommands: FleetCommand.commands,
        defaultSubcommand: WorkCommand.self)
}

/// The program behind `utter fleet`.
@main
struct WorkMain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "utter",
        abstract: "Transcribe what lies in a store, on as many machines as there are.",
        version: "utter \(UtterVersion.text)",
        subcommands: [FleetCommand.self])

    static func main() {
        let first = CommandLine.arguments.dropFirst().first
        if ["fleet", "--experimental-dump-help"].contains(first) { Program.run(WorkMain.self) }
        Program.run(WorkerProgram.self)
    }
}
