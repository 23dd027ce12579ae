// SPDX-License-Identifier: Apache-2.0

/// Limits the bytes of a body a second.
///
/// What was not used is kept for a quarter of a second, so that a live voice is never late.
struct SendingPace {
    private let bytesPerSecond: Int
    private let burst: Int
    private var allowance: Int
    private var last: ContinuousClock.Instant

    init(bytesPerSecond: Int, now: ContinuousClock.Instant) {
        self.bytesPerSecond = max(1, bytesPerSecond)
        burst = max(1, self.bytesPerSecond / 4)
        allowance = burst
        last = now
    }

    /// In bytes; 0 when a chunk would be too small.
    mutating func room(now: ContinuousClock.Instant) -> Int {
        let elapsed = min(now - last, .seconds(1))
        let earned = Int(Double(bytesPerSecond) * (elapsed / .seconds(1)))
        // What is less than a byte is earned next time.
        if earned > 0 {
            allowance = min(burst, allowance + earned)
            last = now
        }
        return allowance >= piece ? allowance : 0
    }

    mutating func spend(_ byteCount: Int) { allowance -= byteCount }

    var interval: Duration { .milliseconds(20) }

    private var piece: Int { max(1, min(burst, bytesPerSecond / 50)) }
}
