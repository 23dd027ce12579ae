// SPDX-License-Identifier: Apache-2.0

/// Says when a frame of a replayed recording exists.
///
/// Every instant is reckoned from the start and none from the one before, so nothing drifts.
struct ReplaySchedule: Sendable {
    let start: ContinuousClock.Instant
    let sampleRate: Int
    let speed: Double

    /// The instant at which the first `frames` frames have been spoken, rounded up.
    func instant(ofFrames frames: Int) -> ContinuousClock.Instant {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: sampleRate)
        let nanoseconds = (rest * 1_000_000_000 + sampleRate - 1) / sampleRate
        let spoken = Duration.seconds(seconds) + .nanoseconds(nanoseconds)
        return start + (speed == 1 ? spoken : spoken / speed)
    }

    /// How many frames have been spoken at `now`.
    func frames(at now: ContinuousClock.Instant) -> Int {
        let spoken = (now - start) / .seconds(1) * speed * Double(sampleRate)
        // Above this nothing is exact any more, and no recording is as long.
        guard spoken < 1e15 else { return Int(1e15) }
        var frames = max(0, Int(spoken) + 1)
        while frames > 0, instant(ofFrames: frames) > now { frames -= 1 }
        return frames
    }
}
