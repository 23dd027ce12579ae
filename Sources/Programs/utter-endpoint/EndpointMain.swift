// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
import UtterCommands

/// The program behind `utter serve` and `utter demo`.
@main
struct EndpointMain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "utter",
        abstract: "The built-in recognition endpoint of utter, and its demonstration.",
        version: "utter \(UtterVersion.text)",
        subcommands: [ServeCommand.self, DemoCommand.self, RecogniseCommand.self])

    static func main() { Program.run(EndpointMain.self) }
}
