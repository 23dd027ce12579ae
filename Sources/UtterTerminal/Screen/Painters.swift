// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// Paints the changing lines of the newest take on a terminal; pure.
struct LivePainter: Sendable {
    var schedule = RedrawSchedule()
    /// States of takes that are not over.
    private var states: [Int: ScreenState] = [:]
    private var newest = 0
    /// The lines on the screen; nil: none.
    private var drawn: (lines: [String], size: WindowSize)?

    /// - Returns: lines that stay, to be written above.
    mutating func show(_ state: ScreenState, of take: Int) -> [String] {
        let before = states.updateValue(state, forKey: take)
        newest = max(newest, take)
        if take == newest { schedule.change() }
        var lines: [String] = []
        if case .begun(let text) = state.course, state.course != before?.course {
            lines.append(text)
        }
        if state.connection != before?.connection, let text = state.connection.text {
            lines.append(text)
        }
        return lines
    }

    /// - Returns: whether the take was shown.
    mutating func hide(_ take: Int) -> Bool {
        states[take] = nil
        return take == newest
    }

    /// The text that brings the screen up to date; nil when it is, or has no lines.
    ///
    /// The turn is over even if nothing may be drawn in it (`isFree` is false).
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

    mutating func erase() -> String? {
        defer { drawn = nil }
        return drawn == nil ? nil : LiveText.erasure()
    }
}

/// When a changing line is drawn: at once after a rest, else at the next turn.
///
/// Pure. At most 16 drawings a second, and the last state is always drawn.
struct RedrawSchedule {
    /// Eyes see no more.
    static let interval = Duration.milliseconds(60)

    private var isDue = false
    private var earliest: ContinuousClock.Instant?
    /// When the line changes by itself, because it counts seconds.
    private var changesAt: ContinuousClock.Instant?

    mutating func change() { isDue = true }

    func wait(at now: ContinuousClock.Instant) -> Duration? {
        if isDue { return max(.zero, (earliest ?? now) - now) }
        return changesAt.map { max(.zero, $0 - now) }
    }

    mutating func draw(at now: ContinuousClock.Instant, nextChange: Duration?) {
        isDue = false
        earliest = now + Self.interval
        changesAt = nextChange.map { now + max($0, Self.interval) }
    }
}

/// Paints lines that stay, at most one a second, so that a listener can follow; pure.
///
/// A state that is over before its turn is not written.
struct LogPainter: Sendable {
    private let interval: Duration
    private var (course, connection) = (ScreenState().course, ScreenState().connection)
    /// As far as they were written.
    private var (toldCourse, toldConnection) = (ScreenState().course, ScreenState().connection)
    private var next: ContinuousClock.Instant?

    init(interval: Duration = .seconds(1)) { self.interval = interval }

    mutating func show(_ state: ScreenState) {
        (course, connection) = (state.course, state.connection)
        // The return after a loss that was not told is not news.
        if case .lost = toldConnection {} else if connection == .back { toldConnection = .back }
    }

    /// The line to write now, which counts as written.
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

    /// The time until the next line; nil: none.
    func wait(at now: ContinuousClock.Instant) -> Duration? {
        (course, connection) == (toldCourse, toldConnection) ? nil : max(.zero, (next ?? now) - now)
    }
}

extension ScreenState.Course {
    /// The log's line for it after `told`; nil: none.
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

/// The codes (ECMA-48, DEC private modes) that draw lines over themselves.
///
/// The cursor rests at the first column of the first line. A terminal that is made narrower and
/// wraps the lines keeps it there, and one that cuts them does too; so clearing from the cursor to
/// the end of the screen erases all pieces, however many rows they have become, and nothing above.
package enum LiveText {
    package static func erasure() -> String { "\r\u{1B}[J" }

    /// At most as many lines as the window has rows.
    ///
    /// Nothing is cleared first, so that nothing flickers. Automatic wrapping is off: the terminal
    /// may have become narrower.
    static func drawing(_ lines: [String]) -> String {
        "\r\u{1B}[?7l" + lines.joined(separator: "\u{1B}[K\r\n")
            + "\u{1B}[J\u{1B}[?7h" + up(lines.count - 1) + "\r"
    }

    private static func up(_ count: Int) -> String { count > 0 ? "\u{1B}[\(count)A" : "" }
}

/// The size of standard error's terminal.
package struct WindowSize: Equatable {
    /// At least 1 each.
    var columns: Int
    var rows: Int

    /// 80 by 24 when it is not known.
    static var current: WindowSize {
        WindowSize(columns: StandardError.columns, rows: terminalRows(StandardError.number) ?? 24)
    }

    /// Makes changes of the size wait for the drawing thread (`SIGWINCH`).
    ///
    /// Called before any thread is started.
    package static func listen() { SignalMask.change(SIG_BLOCK, [SIGWINCH]) }
}
