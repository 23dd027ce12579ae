// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
import UtterCommands

/// The program behind `utter keys`.
@main
struct KeysMain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "utter",
        abstract: "Talk while a key is held in any window.",
        version: "utter \(UtterVersion.text)",
        subcommands: [KeysCommand.self])

    static func main() { Program.run(KeysMain.self) }
}
