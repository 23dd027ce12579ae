// SPDX-License-Identifier: Apache-2.0

/// Holds a replay back to its pace: says which of its frames exist by now.
///
/// It starts when it is asked first.
struct ReplayClock {
    private let speed: Double?
    private let now: @Sendable () -> ContinuousClock.Instant
    private var schedule: ReplaySchedule?

    init(pace: Pace, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        speed = pace.speed
        self.now = now
    }

    /// Whether anything is held back; otherwise all frames exist from the start.
    var isHoldingBack: Bool { speed != nil }

    /// How many frames may have been delivered by now.
    mutating func dueFrameCount(sampleRate: Int) -> Int {
        guard let speed else { return .max }
        let now = now()
        let schedule = schedule ?? ReplaySchedule(start: now, sampleRate: sampleRate, speed: speed)
        self.schedule = schedule
        return schedule.frames(at: now)
    }

    /// When the first `frames` frames will exist.
    func instant(ofFrames frames: Int) -> ContinuousClock.Instant {
        schedule?.instant(ofFrames: frames) ?? now()
    }
}
