// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UtterTerminal

/// `utter retry`: sends takes that have been kept.
struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Send a kept take again, to where it was meant to go.",
        discussion: """
            Without a name it is the newest take that waits. The take knows its service: URL,
            header fields, form, answer rule, and where its token comes from. Options change
            that one by one. A take that was cancelled, or answered while its audio is there
            still, can be named too.
            """)

    @Argument(
        help: "Takes by parts of their ids, 'last', or 'all' that wait for an answer.",
        completion: .waitingTakes)
    var takes: [String] = []

    @OptionGroup
    var options: KeptTakeOptions

    func run() async throws {
        guard takes == ["all"] else {
            try await KeptTakes.send(takes.isEmpty ? ["last"] : takes, by: options)
            return
        }
        // However old: somebody asks.
        try await KeptTakes.flush(isAsked: true, by: options)
    }
}
