// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UtterTerminal

/// `utter retry`: sends takes that have been kept.
struct RetryCommand: TakeCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Send a kept take again, in the format it was recorded in.",
        discussion: "A take that was cancelled, or answered with --keep-audio, can be named too.")

    @Argument(
        help: "Takes' names or their beginnings, 'last', or 'all' that wait for an answer.",
        completion: .waitingTakes)
    var takes: [String]

    @OptionGroup
    var options: KeptTakeOptions

    func run() async throws {
        guard takes == ["all"] else {
            try await KeptTakes.send(takes, by: options)
            return
        }
        // However old: somebody asks.
        try await KeptTakes.flush(by: options)
    }
}
