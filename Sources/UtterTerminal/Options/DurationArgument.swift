// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A duration on the command line: `5s`, `300ms`, `2m`, `1h`, or a number of seconds.
package struct DurationArgument: ExpressibleByArgument {
    package let duration: Duration

    package init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let number = Double(digits), number.isFinite, number >= 0 else { return nil }
        let factors = ["": 1.0, "s": 1.0, "ms": 0.001, "m": 60.0, "h": 3_600.0]
        guard let factor = factors[String(argument.dropFirst(digits.count))] else { return nil }
        // A year is more than anybody records, and keeps the arithmetic within its range.
        guard number * factor <= 366 * 86_400 else { return nil }
        duration = .milliseconds(Int64((number * factor * 1_000).rounded()))
    }

    /// The longest recording unless told otherwise: 30 minutes.
    package static let standardMaximum = DurationArgument(duration: .seconds(1_800))

    private init(duration: Duration) { self.duration = duration }

    package var defaultValueDescription: String { "30m" }
}
