// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UtterTerminal

/// `utter flush`: sends everything that waits, oldest first.
struct FlushCommand: TakeCommand {
    static let configuration = CommandConfiguration(
        commandName: "flush",
        abstract: "Send all takes that wait for an answer, oldest first; for a timer or at login.")

    @Option(help: "Send at most this many takes.")
    var limit = 1_000

    @OptionGroup(title: "Service")
    var service: ServiceOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @Flag(help: "Keep the audio after its transcript was printed.")
    var keepAudio = false

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be above zero.") }
    }

    func run() async throws {
        try await KeptTakes.send(
            ["all"], limit: limit, by: service, output, keepsAudio: keepAudio)
    }
}
