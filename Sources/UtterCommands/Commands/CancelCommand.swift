// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `utter cancel`: ends the recording of `utter start` without sending it.
struct CancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "End the recording of 'utter start' without sending it.",
        discussion: "The recording is kept as a cancelled one for a while: utter list.")

    @Option(help: ArgumentHelp("Cancel this take only.", valueName: "id"))
    var take: String?

    func run() throws {
        do throws(CommandFailure) {
            let status = try ControlReading.ask(ControlRequest(.cancel, take: take), at: .current())
            if status == nil { throw ControlReading.nothingRecorded }
        } catch {
            throw Launch.exit(error)
        }
    }
}
