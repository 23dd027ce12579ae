// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct CancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "End the recording of 'utter start' without sending it.",
        discussion: "The recording is kept as a cancelled one for a while: utter list.")

    @Option(help: ArgumentHelp("Cancel this take only.", valueName: "id"))
    var take: String?

    func run() throws {
        do throws(CommandFailure) {
            _ = try ControlReading.end(ControlRequest(.cancel, take: take))
        } catch {
            throw Launch.exit(error)
        }
    }
}
