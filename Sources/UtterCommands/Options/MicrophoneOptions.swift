// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import AudioDevices
internal import Utter
internal import UtterSettings

/// Which microphone may be opened, and how often it is read.
struct MicrophoneOptions: ParsableArguments {
    /// The periods that make sense.
    static let periods = Duration.milliseconds(10)...Duration.milliseconds(100)

    @Option(
        help: ArgumentHelp(
            "How often the microphone is read, 10ms to 100ms. (default: 20ms)", valueName: "time"))
    var period: DurationArgument?

    @Flag(help: "Accept a device that records what the computer plays.")
    var allowMonitor = false

    mutating func validate() throws {
        if let period, !Self.periods.contains(period.duration) {
            throw ValidationError("--period must be from 10ms to 100ms.")
        }
    }

    /// The microphone that `--device` or the settings name.
    func microphone(_ device: String?) throws(CommandFailure) -> Microphone {
        let source = try source(device)
        return Microphone(device: source.device, period: source.period)
    }

    /// The name of that microphone, and how often it is read.
    func source(
        _ device: String?
    ) throws(CommandFailure) -> (device: String, period: Duration) {
        let name = try KnownSettings.device.value(device) ?? "default"
        let period = try KnownSettings.period.value(period)?.duration
        do throws(CaptureError) {
            return (
                try DeviceChoice.name(meantBy: name, allowsMonitor: allowMonitor),
                period ?? Microphone.usualPeriod
            )
        } catch {
            throw CommandFailure(
                error.description, hint: Hints.of(error), status: ExitStatus(error))
        }
    }
}
