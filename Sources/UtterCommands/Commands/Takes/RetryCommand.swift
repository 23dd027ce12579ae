// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Send a kept take again, to where it was meant to go.",
        discussion: """
            Without a name it is the newest take that waits; where none does, or an option
            changes the request, it is the newest one whose audio is there. The take knows
            its service: URL, header fields, form, answer rule, and where its token comes
            from. Each option changes one of these. A take that was cancelled can be named
            too, and one that was answered: its old text stays if the new attempt fails.

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

struct FlushCommand: AsyncParsableCommand, ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "flush",
        abstract: "Send all takes that wait for an answer, oldest first; for a timer or at login.",
        discussion: """
            A service that cannot be reached, or refuses the token, is sent no more takes
            this time. Takes with which the service has failed go last, and wait longer
            each time. What was refused for good is not sent until something about it is
            changed, and neither is what has waited for longer than --max-age: 'utter
            retry' sends both. Ctrl-C leaves what is not answered as it was. Downloads that
            broke off ('utter fetch') go on, too.
            """)

    @Option(help: "Send at most this many takes.")
    var limit = 1_000

    @Option(help: "Send this many takes at a time, from 1 to 64.")
    var jobs = 1

    @Option(
        help: ArgumentHelp(
            "Do not send takes older than this. Otherwise UTTER_MAX_AGE, otherwise 30d.",
            valueName: "age"),
        transform: AgeArgument.init(parsing:))
    var maxAge: AgeArgument?

    @OptionGroup
    var options: KeptTakeOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be above zero.") }
        guard (1...64).contains(jobs) else {
            throw ValidationError("--jobs must be from 1 to 64.")
        }
        guard maxAge?.duration != .zero else {
            throw ValidationError("--max-age must be above zero.")
        }
    }

    var form: OutputForm { options.output.form }

    func run() async throws {
        try await KeptTakes.flush(
            limit: limit, jobs: jobs, maxAge: KeepOptions.maxAge(maxAge), by: options)
    }
}
