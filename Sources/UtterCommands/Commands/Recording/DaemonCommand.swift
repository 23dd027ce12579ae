// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import OperatorMetrics
internal import UtterControl
internal import UtterSettings

struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon",
        abstract: "Wait for 'utter start', to begin recording at once.",
        discussion: """
            The file of settings is read again when it has changed; SIGTERM and SIGHUP end
            the daemon and save what is recorded. systemd starts it when it is first needed,
            by the person's unit utter.socket.
            """)

    @Option(
        help: ArgumentHelp(
            "Keep the microphone open, and begin each take so long before the start, such as 500ms.",
            valueName: "time"),
        transform: DurationArgument.init(parsing:))
    var preRoll: DurationArgument?

    @OptionGroup
    var metrics: MetricsOptions

    @OptionGroup
    var options: RecorderOptions

    func validate() throws {
        if options.output.json || options.output.texts.isGiven {
            throw ValidationError(
                "-o, --copy, --type, --run and --json are options of 'utter start' and 'utter stop'."
            )
        }
        guard let preRoll else { return }
        guard (.milliseconds(20)...Duration.seconds(10)).contains(preRoll.duration) else {
            throw ValidationError("--pre-roll must be from 20ms to 10s.")
        }
    }

    func run() async throws {
        Configuration.warnOfProblems()
        let owner = try Self.owner()
        try await Recording.record(options, owner, for: .daemon, preRoll: preRoll?.duration) {
            recorder, longest throws(CommandFailure) in
            let readiness = Readiness()
            let server = try metrics.serve(recorder.numbers(readiness))
            if server != nil { recorder.traceRequests() }
            defer { server?.shutDown() }
            return try await recorder.run(nil, longest: longest) {
                recorder.prepare()
                readiness.obstacle = nil
                ServiceManager.tell("READY=1")
            }
        }
    }

    private static func owner() throws -> SocketOwner {
        if let inherited = SocketOwner.inherited() { return inherited }
        let place = try SocketPlace.current()
        guard let owner = try SocketOwner.claim(place) else {
            throw CommandFailure(
                "another utter has the control socket, \(place.path)",
                hint: "see what it does with: utter status", status: .configuration)
        }
        return owner
    }
}
