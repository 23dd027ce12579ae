// SPDX-License-Identifier: Apache-2.0

/// Holds a body back to so many bytes a second.
///
/// What was not used is kept for a quarter of a second, so that a voice that is followed live is
/// never late.
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

    /// How many bytes may be sent now; 0 is too few to be worth a chunk.
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

    /// How long it takes until a piece may be sent again.
    var interval: Duration { .milliseconds(20) }

    /// The least that is sent at once while held back.
    private var piece: Int { max(1, min(burst, bytesPerSecond / 50)) }
}
