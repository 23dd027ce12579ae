// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import Utter
internal import UtterSettings

/// When a recording ends by itself, and when it is dropped.
struct CaptureOptions: ParsableArguments {
    /// What is shorter is a key that was touched.
    private static let usualLeast = Duration.milliseconds(200)

    @Option(
        help: ArgumentHelp(
            "Stop after this long without a voice, once one was heard, such as 2.5s.",
            valueName: "time"))
    var silence: DurationArgument?

    /// How long a recording may and must be.
    func plan(tail: Tail, longest: Duration) throws(CommandFailure) -> CapturePlan {
        let silence = try KnownSettings.silence.value(silence)?.duration
        let least = try KnownSettings.least.value()?.duration
        return CapturePlan(
            tail: tail, longest: longest, least: least ?? Self.usualLeast,
            silence: silence.flatMap { $0 > .zero ? $0 : nil })
    }
}
