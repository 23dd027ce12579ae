// SPDX-License-Identifier: Apache-2.0

/// When shortcuts were pressed and let go, on our clock.
///
/// Pure. The desktop's clock is known by its differences alone: a press is when it is told, and its
/// release so much later as the desktop says, however late either comes.
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
