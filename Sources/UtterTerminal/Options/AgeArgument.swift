// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// An age on the command line: `7d`, `12h`, or any duration.
package struct AgeArgument: ExpressibleByArgument {
    package let duration: Duration

    package init?(argument: String) {
        if argument.hasSuffix("d") {
            // A thousand years are enough for everybody, and keep the arithmetic in its range.
            guard let days = Double(argument.dropLast()), (0...366_000).contains(days) else {
                return nil
            }
            duration = .seconds(days * 86_400)
        } else if let duration = DurationArgument(argument: argument)?.duration {
            self.duration = duration
        } else {
            return nil
        }
    }
}
