// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import AudioDevices
internal import Utter
internal import UtterSettings

struct VoiceOptions: ParsableArguments {
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
            "How the recording travels: \(AudioCodec.names). (default: pcm; wav in a form or JSON)",
            valueName: "format"))
    var format: AudioCodec?

    @OptionGroup
    var microphone: MicrophoneOptions

    @OptionGroup
    var capture: CaptureOptions

    func validate() throws {
        // Zero is a lost digit: nothing would be recorded, without a message.
        if max?.duration == .zero { throw ValidationError("--max must be above zero.") }
    }

    /// When a recording ends by itself.
    var longest: Duration {
        get throws(CommandFailure) {
            (try KnownSettings.longest.value(max) ?? .standardMaximum).duration
        }
    }

    /// The microphone that is opened.
    func source() throws(CommandFailure) -> (device: String, period: Duration) {
        try microphone.source(device)
    }

    /// How long a recording may and must be.
    func plan(exactly: DurationArgument? = nil) throws(CommandFailure) -> CapturePlan {
        let tail = try KnownSettings.tail.value().map { Tail(usual: $0.duration) }
        let standing = try self.longest
        return try capture.plan(tail: tail ?? .speech, longest: exactly?.duration ?? standing)
    }

    /// Makes what plans take after take.
    func planner(
        for service: ServiceOptions, exactly: DurationArgument? = nil
    ) throws(CommandFailure) -> @Sendable () -> TakePlan {
        let capture = try plan(exactly: exactly)
        let plan = try service.planner(format: format)
        let source = try source()
        return { plan(Microphone(device: source.device, period: source.period), capture) }
    }
}

/// How long exactly is recorded; an option that comes before all others.
struct TimeOptions: ParsableArguments {
    @Option(
        name: [.customLong("for"), .customShort("d")],
        help: ArgumentHelp("Record for exactly this long, such as 5s.", valueName: "time"))
    var exactly: DurationArgument?
}
