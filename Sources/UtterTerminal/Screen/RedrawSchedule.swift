// SPDX-License-Identifier: Apache-2.0

/// Decides when a line that changes is drawn: at once after a rest, otherwise with the next turn.
///
/// Pure. However often the line changes, it is drawn 16 times a second at most, and its last state
/// always is.
struct RedrawSchedule {
    /// The least time between two drawings; eyes see no more.
    static let interval = Duration.milliseconds(60)

    private var isDue = false
    private var earliest: ContinuousClock.Instant?
    /// When the line changes by itself, because it counts seconds.
    private var changesAt: ContinuousClock.Instant?

    init() {}

    /// Says that the line has changed.
    ///
    /// - Returns: whether this is the first change since the last drawing.
    mutating func change() -> Bool {
        defer { isDue = true }
        return !isDue
    }

    /// How long to wait before the line is drawn, zero for now; nil is until it changes.
    func wait(at now: ContinuousClock.Instant) -> Duration? {
        if isDue { return max(.zero, (earliest ?? now) - now) }
        return changesAt.map { max(.zero, $0 - now) }
    }

    /// Says that the line is drawn, and after how long it changes by itself.
    mutating func draw(at now: ContinuousClock.Instant, nextChange: Duration?) {
        isDue = false
        earliest = now + Self.interval
        changesAt = nextChange.map { now + max($0, Self.interval) }
    }
}
