// SPDX-License-Identifier: Apache-2.0

/// Turns the desktop's times of shortcuts into ours.
///
/// Pure. Of the desktop's clock only differences count: a press is when it is reported, and the
/// release follows after the desktop's difference, however late either is reported.
package struct ShortcutClock {
    private var press: (time: UInt64, instant: ContinuousClock.Instant)?

    /// A longer difference is between two clocks.
    private static let longest = Duration.seconds(3_600)

    package init() {}

    package mutating func pressed(
        at time: UInt64, now: ContinuousClock.Instant
    ) -> ContinuousClock.Instant {
        press = (time, now)
        return now
    }

    package mutating func released(
        at time: UInt64, now: ContinuousClock.Instant
    ) -> ContinuousClock.Instant {
        defer { press = nil }
        // Some desktops tell no times.
        guard let press, press.time > 0, time > press.time else { return now }
        let length = Duration.milliseconds(Int64(clamping: time - press.time))
        return length <= Self.longest ? press.instant + length : now
    }
}
