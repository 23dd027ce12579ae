// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A moment of `CLOCK_MONOTONIC`, the clock that ALSA and libcurl stamp with.
package struct MonotonicTime: Sendable, Hashable, Comparable {
    /// Nanoseconds since the machine started.
    package let nanoseconds: Int64

    /// Creates a moment from the clock's nanoseconds.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The earlier of two moments is the smaller one.
    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    package static func + (moment: MonotonicTime, duration: Duration) -> MonotonicTime {
        let parts = duration.components
        let added = parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000
        return MonotonicTime(nanoseconds: moment.nanoseconds + added)
    }

    /// The time from `earlier` to `later`; negative when they are the other way round.
    package static func - (later: MonotonicTime, earlier: MonotonicTime) -> Duration {
        .nanoseconds(later.nanoseconds - earlier.nanoseconds)
    }
}

extension Duration {
    /// What `poll(2)` takes: never less than the duration, never negative.
    var millisecondsRoundedUp: Int32 {
        let parts = components
        let milliseconds =
            parts.seconds * 1000 + (parts.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: max(0, milliseconds))
    }
}
