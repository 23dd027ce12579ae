// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import UtterControl

struct StartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Begin a recording that 'utter stop' ends, from anywhere.",
        discussion: """
            It comes back once something is recorded. Without 'utter daemon' a recorder of its
            own goes on in the background until 'utter stop' and the text is where it belongs;
            with UTTER_FOREGROUND=true this command stays, and is that recorder. When one
            records already, it says so. The options count for this take, and the text goes where
            they say once the take ends by itself, or by a 'stop' that names no other place, which
            prints it, too; --json without -o prints nothing. A daemon has options of its own, and
            refuses these, but for --service with the name of a service of its settings or
            profiles, --preset, --copy, --type and --notify.

            With --loop and --silence the hands are free: a pause ends a sentence, its text goes
            where the options say, in the order of speech, and the next one is recorded at once, until
            'utter stop', 'utter cancel', or the words of text.stop-word at the end of a sentence.
            """)

    @Flag(help: "Record sentence after sentence, each ended by the pause of --silence.")
    var loop = false

    @OptionGroup
    var options: RecorderOptions

    func run() async throws {
        let silence = try KnownSettings.silence.value(options.voice.silence)?.duration ?? .zero
        guard !loop || silence > .zero else {
            throw ValidationError("--loop needs a pause that ends a sentence: --silence 1s.")
        }
        guard !loop || TextOutput.hasPlaces(options.output.texts) else {
            throw ValidationError(
                "--loop needs a place for its texts: --type, --copy, -o FILE or --run COMMAND; a stop "
                    + "prints the last one alone.")
        }
        try await Recording.run(.start, options, listensAgain: loop)
    }
}

struct ToggleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "toggle", abstract: "Begin a recording, or end it and print its text.",
        discussion:
            "For keys that tell no release: the first press is 'utter start', the next 'utter stop'."
    )

    @OptionGroup
    var options: RecorderOptions

    func run() async throws { try await Recording.run(.toggle, options) }
}

struct StopCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "End the recording of 'utter start', and print its text.",
        discussion: """
            The exit status and the messages are those of the take. A text is printed
            once: by the first stop that asks for it. Without a recording the exit
            status is 67.
            """)

    @Option(
        help: ArgumentHelp(
            "Stop this take only: a late stop does no harm to the next one.", valueName: "id"))
    var take: String?

    @Flag(help: "Print one JSON object with the transcript and the account of every sample.")
    var json = false

    @OptionGroup(title: "Text")
    var texts: TextOptions

    var form: OutputForm { json ? .object : .text }

    func run() throws {
        var request = ControlRequest(.stop, take: take, report: json ? true : nil)
        request.placed = texts.isGiven ? true : nil
        let status = try ControlReading.end(request) { TextOutput(ofEnded: texts, form: form) }
        if status != .textPrinted { throw status.code }
    }
}

struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Close the microphone; the recording goes on later.",
        discussion: """
            It comes back once the microphone is closed, after a short tail. 'utter resume' or
            'utter start' goes on with the same take, 'utter stop' ends it. A request that is
            sent while you speak ends after 5 seconds of pause, so that its text comes, and what
            follows goes into another one, where the service takes one recording for a request;
            others wait.
            """)

    @Flag(help: "Go on with a paused recording: for one key.")
    var toggle = false

    @Option(help: ArgumentHelp("Only with this take.", valueName: "id"))
    var take: String?

    func run() throws {
        try ControlReading.ask(ControlRequest(toggle ? .pauseOrResume : .pause, take: take))
    }
}

struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Go on with a paused recording.",
        discussion: "It comes back once the microphone is open again.")

    @Option(help: ArgumentHelp("Only with this take.", valueName: "id"))
    var take: String?

    func run() throws { try ControlReading.ask(ControlRequest(.resume, take: take)) }
}

struct CancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "End the recording of 'utter start' without sending it.",
        discussion: "The recording is kept as a cancelled one for a while: utter list.")

    @Option(help: ArgumentHelp("Cancel this take only.", valueName: "id"))
    var take: String?

    func run() throws {
        _ = try ControlReading.end(ControlRequest(.cancel, take: take))
    }
}
