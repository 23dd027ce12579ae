// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct FlushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flush",
        abstract: "Send all takes that wait for an answer, oldest first; for a timer or at login.",
        discussion: """
            A service that cannot be reached, or refuses the token, is sent no more takes
            this time. Takes with which the service has failed go last, and wait longer
            each time. What was refused for good is not sent until something about it is
            changed, and neither is what has waited for longer than --max-age: 'utter
            retry' sends both. Ctrl-C leaves what is not answered as it was.
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

    func run() async throws {
        let age: Duration
        do throws(CommandFailure) {
            age = try KeepOptions.maxAge(maxAge)
        } catch {
            throw Launch.exit(error, as: options.output.form)
        }
        try await KeptTakes.flush(limit: limit, jobs: jobs, maxAge: age, by: options)
    }
}
