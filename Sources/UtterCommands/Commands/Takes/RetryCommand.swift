// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Send a kept take again, to where it was meant to go.",
        discussion: """
            Without a name it is the newest take that waits. The take knows its service:
            URL, header fields, form, answer rule, and where its token comes from. Each
            option changes one of these. A take that was cancelled can be named too, and
            one that was answered, while its audio is there: its old text stays if the new
            attempt fails.

            With --service A,B,C the recording is sent to each of these services. Each gets
            a row with its time and its text or error, or is in the array of --json. The
            exit status is that of the first that failed. The take stays as it is, unless
            one of them is its own service, which answers it.
            """)

    @Argument(
        help: "Parts of takes' ids, 'last', or 'all' for those that wait for an answer.",
        completion: .waitingTakes)
    var takes: [String] = []

    @OptionGroup
    var options: KeptTakeOptions

    func run() async throws {
        guard takes == ["all"], Comparison.services(in: options) == nil else {
            try await KeptTakes.send(takes.isEmpty ? ["last"] : takes, by: options)
            return
        }
        // However old: the person asks for them.
        try await KeptTakes.flush(isAsked: true, by: options)
    }
}
