// SPDX-License-Identifier: Apache-2.0

/// A moment of `CLOCK_MONOTONIC`, which stands still while the computer sleeps.
package typealias MonotonicTime = SuspendingClock.Instant

extension Duration {
    /// What `poll(2)` takes: never less than the duration, never negative.
    var millisecondsRoundedUp: Int32 {
        let parts = components
        let milliseconds =
            parts.seconds * 1000 + (parts.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: max(0, milliseconds))
    }
}
