// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import AudioDevices
import Utter

/// What is recorded, and where it goes, for takes that the control socket begins and ends.
struct RecorderOptions: ParsableArguments {
    @Option(
        name: [.long, .customShort("D")],
        help: ArgumentHelp(
            "The ALSA capture device; see 'utter devices'. (default: default)", valueName: "name"),
        completion: .microphones)
    var device: String?

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

    @OptionGroup(title: "Service")
    var service: ServiceOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Disk")
    var keep: KeepOptions

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func validate() throws {
        if max?.duration == .zero { throw ValidationError("--max must be above zero.") }
        if output.json { throw ValidationError("--json is an option of 'utter stop'.") }
    }

    /// Where takes go, as options, variables and settings say it now.
    ///
    /// Reads secrets.
    ///
    /// - Throws: `CommandFailure` when one of them is wrong, or a secret cannot be had.
    func delivery() throws(CommandFailure) -> DeliveryPlan {
        try service.planner(format: format)(Microphone(), CapturePlan()).delivery
    }

    /// The microphone's name.
    ///
    /// - Throws: `CommandFailure` when the settings are wrong.
    func deviceName() throws(CommandFailure) -> String {
        try KnownSettings.device.value(device) ?? "default"
    }

    /// The longest recording.
    ///
    /// - Throws: `CommandFailure` when the settings are wrong.
    func longest() throws(CommandFailure) -> Duration {
        (try KnownSettings.longest.value(max) ?? .standardMaximum).duration
    }

    /// How recordings end.
    ///
    /// - Throws: `CommandFailure` when the settings are wrong.
    func capture() throws(CommandFailure) -> CapturePlan {
        let tail = try KnownSettings.tail.value(tail)
        return CapturePlan(
            tail: tail.map { Tail(usual: $0.duration) } ?? .speech, longest: try longest())
    }
}
