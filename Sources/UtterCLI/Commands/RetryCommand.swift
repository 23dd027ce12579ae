// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UtterTerminal

/// `utter retry`: sends takes that have been kept.
struct RetryCommand: TakeCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Send a kept take again, in the format it was recorded in.",
        discussion: """
            Without a name it is the newest take that has no answer. One that was cancelled,
            or answered with --keep-audio, can be named too.
            """)

    @Argument(
        help: "Takes by parts of their ids, 'last', or 'all' that wait for an answer.",
        completion: .takes)
    var takes: [String] = []

    @OptionGroup
    var options: KeptTakeOptions

    func run() async throws {
        guard takes == ["all"] else {
            try await KeptTakes.send(takes.isEmpty ? ["last"] : takes, by: options)
            return
        }
        // However old: somebody asks.
        try await KeptTakes.flush(by: options)
    }
}
