// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// An age on the command line or in a variable: `7d`, `12h`, any duration with a unit, or 0.
///
/// A bare number is refused: seconds are what it would mean, and days what is meant.
struct AgeArgument {
    let duration: Duration

    /// Reads an age.
    init(parsing text: String) throws {
        guard let age = AgeArgument(text) else {
            throw ValidationError("An age is a number with its unit, such as 7d, 12h or 30m.")
        }
        self = age
    }

    init?(_ text: String) {
        if text.hasSuffix("d") {
            // A thousand years are enough, and keep the arithmetic in its range.
            guard let days = Double(text.dropLast()), (0...366_000).contains(days) else {
                return nil
            }
            duration = .seconds(days * 86_400)
        } else if let duration = DurationArgument(argument: text)?.duration,
            duration == .zero || text.last?.isLetter == true
        {
            self.duration = duration
        } else {
            return nil
        }
    }
}
