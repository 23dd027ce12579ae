// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter

/// `utter`: records from a microphone and prints the transcript.
struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record from a microphone and print the transcript (the default).")

    @Option(
        name: [.long, .customShort("D")],
        help: ArgumentHelp(
            "The ALSA capture device; see 'utter devices'. (default: default)", valueName: "name"),
        completion: .microphones)
    var device: String?

    @Option(
        name: [.customLong("for"), .customShort("d")],
        help: ArgumentHelp("Record for exactly this long, such as 5s.", valueName: "time"))
    var exactly: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Stop and send after this long at the latest. (default: 30m)", valueName: "time"))
    var max: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "How long to go on after the stop; less in silence, 0 for none. (default: 300ms)",
            valueName: "time"))
    var tail: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "How the recording travels: \(AudioCodec.names). (default: pcm; wav in a form or JSON)",
            valueName: "format"))
    var format: AudioCodec?

    @OptionGroup(title: "Microphone")
    var microphone: MicrophoneOptions

    @OptionGroup(title: "End")
    var capture: CaptureOptions

    @OptionGroup(title: "Service")
    var service: ServiceOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Disk")
    var keep: KeepOptions

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func validate() throws {
        // Zero is a lost digit: nothing would be recorded, without a message.
        if exactly?.duration == .zero { throw ValidationError("--for must be above zero.") }
        if max?.duration == .zero { throw ValidationError("--max must be above zero.") }
        if let exactly, let max, exactly.duration > max.duration {
            throw ValidationError("--for is longer than --max, which would cut it.")
        }
    }

    func run() async throws {
        try await Launch.takes(
            output: output, keep: keep, encryption: encryption.source,
            listensToEnter: exactly == nil
        ) {
            session throws(CommandFailure) in
            let tail = try KnownSettings.tail.value(tail)
            let longest = try KnownSettings.longest.value(exactly ?? max) ?? .standardMaximum
            let plan = try service.planner(format: format)(
                try microphone.microphone(device),
                try capture.plan(
                    tail: tail.map { Tail(usual: $0.duration) } ?? .speech,
                    longest: longest.duration))
            return await session.run(
                plan, as: exactly == nil ? .recording : .recordingForTime,
                isServiceUnset: service.isServiceUnset)
        }
    }
}
