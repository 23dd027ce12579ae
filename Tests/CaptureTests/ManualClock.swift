// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import Capture

/// A clock that stands still until a test moves it.
final class ManualClock: Sendable {
    private let instant: Mutex<ContinuousClock.Instant>

    /// Where the clock began: an instant at which a replay in real time may start.
    let start: ContinuousClock.Instant

    init() {
        start = ContinuousClock.now.next(of: ReplayClock.grid)
        instant = Mutex(start)
    }

    /// To be passed to a source.
    var now: @Sendable () -> ContinuousClock.Instant {
        { self.instant.withLock { $0 } }
    }

    /// The time since the start.
    var elapsed: Duration { now() - start }

    func advance(to target: ContinuousClock.Instant) {
        instant.withLock { $0 = max($0, target) }
    }

    func advance(by duration: Duration) {
        instant.withLock { $0 += duration }
    }
}
