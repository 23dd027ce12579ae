// SPDX-License-Identifier: Apache-2.0

/// Paints lines that change on a terminal: those of the newest take; pure.
struct LivePainter: Sendable {
    var schedule = RedrawSchedule()
    /// What is known of the takes that are not over.
    private var states: [Int: ScreenState] = [:]
    /// The newest take that was shown: those before it are not, any more.
    private var newest = 0
    /// What is on the screen, and for which window; nil when nothing is there.
    private var drawn: (lines: [String], size: WindowSize)?

    /// Learns what is to be seen of a take.
    ///
    /// - Returns: the lines that stay, to be written above.
    mutating func show(_ state: ScreenState, of take: Int) -> [String] {
        let before = states.updateValue(state, forKey: take)
        newest = max(newest, take)
        if take == newest { schedule.change() }
        var lines: [String] = []
        if case .begun(let text) = state.course, state.course != before?.course {
            lines.append(text)
        }
        if state.connection != before?.connection {
            lines += [state.connection.text].compactMap(\.self)
        }
        return lines
    }

    /// Forgets a take; whether it was shown.
    mutating func hide(_ take: Int) -> Bool {
        states[take] = nil
        return take == newest
    }

    /// What draws the lines; nil when they are there, or when there are none.
    ///
    /// The turn is over all the same, and also when nothing may be drawn in it.
    mutating func draw(
        in size: WindowSize, hasColour: Bool, at now: ContinuousClock.Instant, isFree: Bool = true
    ) -> String? {
        let state = states[newest]
        schedule.draw(at: now, nextChange: state?.nextChange)
        guard isFree, let state else { return nil }
        let lines = state.lines(
            columns: size.columns, rows: size.rows, hasColour: hasColour, at: now)
        if let drawn, drawn == (lines, size) { return nil }
        drawn = (lines, size)
        return LiveText.drawing(lines)
    }

    /// What takes the lines away; nil when there are none.
    mutating func erase() -> String? {
        defer { drawn = nil }
        return drawn == nil ? nil : LiveText.erasure()
    }
}

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

    /// Says that the line has changed.
    mutating func change() { isDue = true }

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

/// Paints lines that stay, of one take: one for what has changed, and at most one a second, so that
/// a listener can follow; pure.
///
/// What is no longer so before its turn is not told.
struct LogPainter: Sendable {
    /// The least time between two lines.
    private let interval: Duration
    private var (course, connection) = (ScreenState().course, ScreenState().connection)
    /// The same, as far as it has been told.
    private var (toldCourse, toldConnection) = (ScreenState().course, ScreenState().connection)
    private var next: ContinuousClock.Instant?

    init(interval: Duration = .seconds(1)) { self.interval = interval }

    mutating func show(_ state: ScreenState) {
        (course, connection) = (state.course, state.connection)
        // The return after a loss that was not told is no news.
        if case .lost = toldConnection {} else if connection == .back { toldConnection = .back }
    }

    /// The line that is to be told now, which counts as told; nil when there is none.
    mutating func take(at now: ContinuousClock.Instant) -> String? {
        guard wait(at: now) == .zero else { return nil }
        next = now + interval
        guard course == toldCourse else {
            defer { toldCourse = course }
            return course.text(after: toldCourse)
        }
        toldConnection = connection
        return connection.text
    }

    /// How long to wait before a line is told; nil is until there is one.
    func wait(at now: ContinuousClock.Instant) -> Duration? {
        (course, connection) == (toldCourse, toldConnection) ? nil : max(.zero, (next ?? now) - now)
    }
}

extension ScreenState.Course {
    /// What a log says of it, when it has said the other; nil is nothing.
    fileprivate func text(after told: Self) -> String? {
        switch self {
        case .unknown: return nil
        case .opening(let text), .begun(let text): return text
        case .stopped(let text): return "\(text); sending"
        case .sent(let stop):
            return told == .stopped(stop)
                ? "all sent; waiting for the text" : "\(stop); all sent, waiting for the text"
        }
    }
}

extension ScreenState.Connection {
    fileprivate var text: String? {
        switch self {
        case .untold: nil
        case .lost(let text): text
        case .back: "connected again"
        }
    }
}
