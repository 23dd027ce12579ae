// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// How long the audio of an answered take stays: an age, `0`, or `forever`.
struct AudioTime: Sendable {
    /// The time; a thousand years stand for ever.
    let duration: Duration

    /// Reads a time.
    init(parsing text: String) throws {
        guard let time = AudioTime(text) else {
            throw ValidationError(
                "A time for the audio is a number with its unit, such as 7d or 12h, 'forever', or 0."
            )
        }
        self = time
    }

    init?(_ text: String) {
        guard text != "forever" else {
            duration = .seconds(366_000 * 86_400)
            return
        }
        guard let age = AgeArgument(text) else { return nil }
        duration = age.duration
    }
}
