// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import Synchronization
import Utter
internal import UtterTerminal

struct LevelCommand: AsyncParsableCommand, ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "level",
        abstract: "Show how loud a microphone is, and what is wrong with its signal.",
        discussion: """
            Nothing is sent and nothing is kept; no service is needed. Speak: a voice should
            come to between -30 and -6 dBFS. Ends with Enter or Ctrl-C, or after --for.
            The exit status is 0 when the signal is good, and 1 when it is not.
            """)

    @Option(
        name: [.customLong("for"), .customShort("d")],
        help: ArgumentHelp("Listen for this long. (default: until Enter)", valueName: "time"),
        transform: DurationArgument.init(parsing:))
    var length: DurationArgument?

    @Flag(help: "Print one JSON object.")
    var json = false

    var form: OutputForm { json ? .object : .text }

    @OptionGroup(title: "Microphone")
    var microphone: MicrophoneOptions

    func validate() throws {
        if length?.duration == .zero { throw ValidationError("--for must be above zero.") }
    }

    func run() async throws {
        let report = try await listen()
        if case .source(let error) = report.end.cause { throw CommandFailure(error) }
        let listing = SignalListing(report)
        try StandardOutput.show(json ? listing.json : listing.text)
        if !listing.isGood { throw ExitStatus.heardNothing.code }
    }

    private func listen() async throws(CommandFailure) -> SignalProbe.Report {
        let (device, period) = try microphone.source()
        let signals = try orFailure { try Signals(readingPipe: self.length == nil) }
        let longest = length?.duration ?? .seconds(86_400)
        // Typed keys stay off the lines that change.
        if length == nil || StandardError.isTerminal {
            _ = await signals.takeKeys(.space, answerTime: nil)
        }
        let screen = StandardError.isTerminal ? StatusScreen(isLive: true) : .silent
        defer { screen.end() }
        let listening = Task {
            let level = Mutex(LevelState())
            return try await SignalProbe.listen(
                to: DeviceHost.microphone(device, period: period), for: longest
            ) { reading in
                screen.show(level.withLock { $0.note(reading, at: .now) })
            }
        }
        signals.handle { request in
            if case .key(.focusLost, _) = request { return }  // Ctrl-Z: it goes on later.
            listening.cancel()
        }
        let result = await listening.result
        await signals.leaveKeys()
        return try orFailure { try result.get() }
    }
}

struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List the capture devices by name, with what they offer.",
        discussion: """
            --device takes any of these names, or a part of one name or description. Numbers are
            not taken: they change when a device is plugged in.
            """)

    @Flag(help: "List the devices that 'utter play' can use instead.")
    var playback = false

    @Flag(help: "Print the names alone, and open no device.")
    var names = false

    @Flag(help: "Print a JSON array.")
    var json = false

    func run() throws {
        let devices = try DeviceHost.list(for: playback ? .playing : .recording)
        guard !devices.isEmpty else {
            throw CommandFailure(
                "there is no \(playback ? "playback" : "capture") device",
                hint: "check that the sound driver is loaded: "
                    + (playback ? "aplay -l" : "arecord -l"), status: .noInput)
        }
        let text: String
        if names {
            text = devices.map(\.name).joined(separator: "\n")
        } else {
            let listing = DeviceListing(devices, isOpened: !playback)
            text = json ? listing.json : listing.table
        }
        try StandardOutput.show(text)
    }
}
