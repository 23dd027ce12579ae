// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Capture
internal import Utter
internal import UtterTerminal

struct VoiceOptions: ParsableArguments {
    /// The usual least length; a shorter press only touched the key.
    private static let usualLeast = Duration.milliseconds(200)

    @OptionGroup
    var microphone: MicrophoneOptions

    @Option(
        help: ArgumentHelp(
            "Stop and send after this long at the latest. (default: 30m)", valueName: "time"),
        transform: DurationArgument.init(parsing:))
    var max: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "How the recording travels: \(AudioCodec.names). (default: pcm; wav in a form or JSON)",
            valueName: "format"))
    var format: AudioCodec?

    @Option(
        help: ArgumentHelp(
            "Stop after this long without a voice, once one was heard, such as 2.5s.",
            valueName: "time"),
        transform: DurationArgument.init(parsing:))
    var silence: DurationArgument?

    func validate() throws {
        // Zero is a lost digit: nothing would be recorded, without a message.
        if max?.duration == .zero { throw ValidationError("--max must be above zero.") }
    }

    var longest: Duration {
        get throws(CommandFailure) {
            try KnownSettings.longest.value(max)?.duration ?? .seconds(1_800)
        }
    }

    func plan(exactly: DurationArgument? = nil) throws(CommandFailure) -> CapturePlan {
        let tail = try KnownSettings.tail.value().map { Tail(usual: $0.duration) }
        let standing = try longest
        let silence = try KnownSettings.silence.value(silence)?.duration
        let least = try KnownSettings.least.value()?.duration
        let ending = silence.flatMap { $0 > .zero ? $0 : nil }
        guard ending == nil || VoiceDetector.name != nil else {
            throw CommandFailure(
                "silence cannot end a recording: this utter was built without a voice detector",
                hint: "leave --silence and recording.silence out, or see: utter doctor",
                status: .configuration)
        }
        return CapturePlan(
            tail: tail ?? .speech, longest: exactly?.duration ?? standing,
            least: least ?? Self.usualLeast, silence: ending)
    }

    func takePlan(
        for delivery: DeliveryPlan, exactly: DurationArgument? = nil
    ) throws(CommandFailure) -> TakePlan {
        let capture = try plan(exactly: exactly)
        let (device, period) = try microphone.source()
        return TakePlan(
            source: DeviceHost.microphone(device, period: period), capture: capture,
            delivery: delivery)
    }
}

/// How long exactly is recorded; an option that comes before all others.
struct TimeOptions: ParsableArguments {
    @Option(
        name: [.customLong("for"), .customShort("d")],
        help: ArgumentHelp("Record for exactly this long, such as 5s.", valueName: "time"),
        transform: DurationArgument.init(parsing:))
    var exactly: DurationArgument?
}

struct MicrophoneOptions: ParsableArguments {
    static let periods = Duration.milliseconds(10)...Duration.milliseconds(100)

    @Option(
        name: [.long, .customShort("D")],
        help: ArgumentHelp(
            "The microphone, or a part of its name; see 'utter devices'. (default: default)",
            valueName: "name"),
        completion: .microphones)
    var device: String?

    @Flag(
        help: ArgumentHelp(
            "Accept a device that records what the computer plays.", visibility: .hidden))
    var allowMonitor = false

    /// The name of the microphone that `--device` or the settings name, and how often it is read.
    func source() throws(CommandFailure) -> (device: String, period: Duration?) {
        let name = try KnownSettings.device.value(device) ?? "default"
        let period = try KnownSettings.period.value()?.duration
        return try orFailure {
            (try DeviceHost.name(meantBy: name, allowsMonitor: allowMonitor), period)
        }
    }
}

struct KeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The key to talk with: \(TalkKey.examples). (default: space)", valueName: "name",
            visibility: .hidden))
    var key: TalkKey?

    @Flag(
        help: ArgumentHelp(
            "Hold the key to talk; an error where the terminal does not report releases.",
            visibility: .hidden))
    var hold = false

    @Flag(
        help: ArgumentHelp(
            "Press the key once to begin and once to end, whatever the terminal reports.",
            visibility: .hidden))
    var toggle = false

    func validate() throws {
        if hold && toggle { throw ValidationError("--hold and --toggle cannot be used together.") }
    }

    func manner(
        isForOne: Bool, isHandsFree: Bool = false
    ) throws(CommandFailure) -> TalkManner {
        let chosen = try KnownSettings.key.value(key)
        let answerTime = try KnownSettings.answerTime.value()
        return TalkManner(
            isForOne: isForOne, isHandsFree: isHandsFree, key: chosen ?? .space,
            isKeyAsked: key != nil,
            wish: hold ? .hold : toggle ? .toggle : nil,
            answerTime: answerTime?.duration ?? KeyTerminal.answerTime)
    }
}

extension TalkKey: ExpressibleByArgument {
    package init?(argument: String) { self.init(named: argument) }

    package var defaultValueDescription: String { name }
}
