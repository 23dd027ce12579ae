// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import AudioDevices
internal import Utter
internal import UtterSettings

/// Which microphone may be opened.
struct MicrophoneOptions: ParsableArguments {
    /// The periods that make sense.
    static let periods = Duration.milliseconds(10)...Duration.milliseconds(100)

    @Flag(
        help: ArgumentHelp(
            "Accept a device that records what the computer plays.", visibility: .hidden))
    var allowMonitor = false

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
        let period = try KnownSettings.period.value()?.duration
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
