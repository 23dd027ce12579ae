// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Settings

/// A duration on the command line: `5s`, `300ms`, `1m30s`, `1:30`, `1:02:03`, or a number of
/// seconds.
struct DurationArgument: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        // A year is longer than any recording, and keeps the arithmetic within its range.
        guard let seconds = TimeText.seconds(argument), (0...366 * 86_400).contains(seconds)
        else { return nil }
        duration = .milliseconds(Int64((seconds * 1_000).rounded()))
    }

    /// The longest recording unless told otherwise: 30 minutes.
    static let standardMaximum = DurationArgument(duration: .seconds(1_800))

    private init(duration: Duration) { self.duration = duration }
}
