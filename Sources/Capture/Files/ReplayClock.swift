// SPDX-License-Identifier: Apache-2.0

/// How fast a recording is replayed.
public enum Pace: Sendable, Hashable {
    /// As it was spoken: a frame is delivered when it would have come from a microphone.
    case realTime
    /// This many times as fast; greater than zero. Any other value is `unpaced`.
    case times(Double)
    /// As fast as it is read.
    case unpaced

    /// How many times as fast as spoken, or `nil` when nothing holds it back.
    var speed: Double? {
        switch self {
        case .realTime: 1
        case .times(let factor): factor > 0 && factor.isFinite ? factor : nil
        case .unpaced: nil
        }
    }
}

/// Says which frames of a replay exist by now.
///
/// It starts with the first question; in real time at the next instant of `grid` from there, so that
/// all replays of a process share their wake-ups.
struct ReplayClock {
    /// A period, counted from the epoch of the monotonic clock.
    static let grid = Duration.milliseconds(20)

    private let speed: Double?
    private let now: @Sendable () -> ContinuousClock.Instant
    var schedule: ReplaySchedule?

    init(pace: Pace, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        speed = pace.speed
        self.now = now
    }

    /// Otherwise all frames exist from the start.
    var isHoldingBack: Bool { speed != nil }

    mutating func dueFrameCount(sampleRate: Int) -> Int {
        guard let speed else { return .max }
        let now = now()
        if let schedule { return schedule.frames(at: now) }
        let start = speed == 1 ? now.next(of: Self.grid) : now
        let schedule = ReplaySchedule(start: start, sampleRate: sampleRate, speed: speed)
        self.schedule = schedule
        return schedule.frames(at: now)
    }

    func instant(ofFrames frames: Int) -> ContinuousClock.Instant {
        schedule?.instant(ofFrames: frames) ?? now()
    }

    /// When the next frames are due; nil before the first look, for `step` 0, and without a pace.
    func next(_ step: Int, after frames: Int) -> ContinuousClock.Instant? {
        step > 0 ? schedule?.instant(ofFrames: frames + step) : nil
    }
}

extension ContinuousClock.Instant {
    /// This instant or the first after it that is a multiple of `interval` from the clock's epoch.
    func next(of interval: Duration) -> ContinuousClock.Instant {
        let (seconds, attoseconds) = (self - ContinuousClock().systemEpoch).components
        let step = Int64(interval / .nanoseconds(1))
        let rest = (seconds * 1_000_000_000 + attoseconds / 1_000_000_000) % step
        return rest == 0 ? self : self + .nanoseconds(step - rest)
    }
}

/// When each frame of a replayed recording exists.
///
/// Every instant is counted from the start, so nothing drifts.
struct ReplaySchedule: Sendable {
    let start: ContinuousClock.Instant
    let sampleRate: Int
    let speed: Double

    /// When the first `frames` frames have been spoken, rounded up.
    func instant(ofFrames frames: Int) -> ContinuousClock.Instant {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: sampleRate)
        let nanoseconds = (rest * 1_000_000_000 + sampleRate - 1) / sampleRate
        let spoken = Duration.seconds(seconds) + .nanoseconds(nanoseconds)
        return start + (speed == 1 ? spoken : spoken / speed)
    }

    func frames(at now: ContinuousClock.Instant) -> Int {
        let spoken = (now - start) / .seconds(1) * speed * Double(sampleRate)
        // Above this nothing is exact any more, and no recording is as long.
        guard spoken < 1e15 else { return Int(1e15) }
        var frames = max(0, Int(spoken) + 1)
        while frames > 0, instant(ofFrames: frames) > now { frames -= 1 }
        return frames
    }
}
