// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// The lines on the terminal that change, drawn by a thread of its own.
///
/// From any thread. The lock is held while the terminal takes what is drawn.
package final class LiveLine: Sendable {
    private struct State {
        /// What is shown; nil when there is nothing to draw.
        var content: (any LiveContent)?
        /// The newest take that was shown: those before it are not, any more.
        var newest = 0
        /// How many have the terminal to write to it.
        var writers = 0
        var schedule = RedrawSchedule()
        /// What is on the screen, and for which window; nil when nothing is there.
        var drawn: (lines: [String], size: WindowSize)?
        var isOver = false
    }

    private let state = Mutex(State())
    private let thread = Mutex<NamedThread?>(nil)
    private let wakeup: Wakeup
    /// Tells that the window has another size.
    private let resizing: SignalDescriptor

    /// Begins with nothing to show.
    ///
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    package init() throws(SystemError) {
        wakeup = try Wakeup()
        resizing = try SignalDescriptor(signals: [SIGWINCH])
        let started = try NamedThread(name: "status line") { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Shows what is to say of a take, as soon as it may be drawn again, unless a newer one is shown.
    package func show(_ content: any LiveContent, of take: Int = 1) {
        let isNews = state.withLock { state in
            guard take >= state.newest else { return false }
            (state.content, state.newest) = (content, take)
            return state.schedule.change()
        }
        if isNews { wakeup.signal() }
    }

    /// Takes away what is shown of a take.
    package func hide(_ take: Int = 1) {
        state.withLock { state in
            guard take == state.newest else { return }
            state.content = nil
            erase(&state)
        }
    }

    /// Has lines written that stay, above those that change: nothing is drawn meanwhile.
    @discardableResult
    package func write<Result: Sendable>(_ body: () -> Result) -> Result {
        state.withLock { state in
            state.writers += 1
            erase(&state)
        }
        defer {
            let isNews = state.withLock { state in
                state.writers -= 1
                return state.schedule.change()
            }
            if isNews { wakeup.signal() }
        }
        return body()
    }

    /// Takes everything away, for good.
    package func end() {
        state.withLock { $0.isOver = true }
        wakeup.signal()
        thread.withLock { $0 }?.join()
        state.withLock { erase(&$0) }
    }

    private func erase(_ state: inout State) {
        if state.drawn != nil { StandardError.write(LiveText.erasure()) }
        state.drawn = nil
    }

    private func run() {
        while true {
            let wait = state.withLock { state -> Duration? in
                let now = ContinuousClock.now
                if !state.isOver, state.schedule.wait(at: now) == .zero { draw(&state, at: now) }
                return state.schedule.wait(at: now)
            }
            if state.withLock({ $0.isOver }) { return }
            var events = [wakeup.descriptor, resizing.number].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            // Rounded up: a wait that ends a little too early would spin.
            _ = unsafe poll(&events, 2, wait.map { Int32($0 / .milliseconds(1)) + 1 } ?? -1)
            wakeup.drain()
            while resizing.next() != nil { state.withLock { _ = $0.schedule.change() } }
        }
    }

    private func draw(_ state: inout State, at now: ContinuousClock.Instant) {
        state.schedule.draw(at: now, nextChange: state.content?.nextChange)
        guard state.writers == 0, let content = state.content else { return }
        let size = WindowSize.current
        let lines = content.lines(
            columns: size.columns, rows: size.rows, hasColour: StandardError.hasColour, at: now)
        if let drawn = state.drawn, drawn == (lines, size) { return }
        TerminalLoan.unlessLent {
            StandardError.write(LiveText.drawing(lines))
            state.drawn = (lines, size)
        }
    }
}

/// What a terminal shows as long as it changes; pure.
package protocol LiveContent: Sendable {
    /// After how long it changes by itself; nil when it does not.
    var nextChange: Duration? { get }

    /// The lines for a window and a time, each at most `columns` - 1 columns wide, colour codes not
    /// counted.
    func lines(
        columns: Int, rows: Int, hasColour: Bool, at now: ContinuousClock.Instant
    ) -> [String]
}

/// The codes (ECMA-48, DEC private modes) that draw lines over themselves.
///
/// The cursor rests at the first column of the first line. A terminal that is made narrower and
/// wraps the lines keeps it there, and one that cuts them does too; so clearing from the cursor to
/// the end of the screen erases all pieces, however many rows they have become, and nothing above.
package enum LiveText {
    package static func erasure() -> String { "\r\u{1B}[J" }

    /// Draws a line over what is there.
    package static func drawing(_ text: String) -> String { drawing([text]) }

    /// Draws lines over what is there: no more than the window has rows.
    ///
    /// Nothing is cleared before it is written over, so that nothing flickers. Without automatic
    /// wrapping: the terminal may be narrower by the time it reads this.
    static func drawing(_ lines: [String]) -> String {
        "\r\u{1B}[?7l" + lines.joined(separator: "\u{1B}[K\r\n")
            + "\u{1B}[J\u{1B}[?7h" + up(lines.count - 1) + "\r"
    }

    private static func up(_ count: Int) -> String { count > 0 ? "\u{1B}[\(count)A" : "" }
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

/// How large the terminal is on which standard error is shown.
package struct WindowSize: Equatable {
    /// At least one, each.
    var columns: Int
    var rows: Int

    /// The size now; that of the oldest terminals when it is not known.
    static var current: WindowSize {
        WindowSize(columns: StandardError.columns, rows: terminalRows(STDERR_FILENO) ?? 24)
    }

    /// Has changes of the size wait for the one who draws (`SIGWINCH`).
    ///
    /// Called before any thread is started.
    package static func listen() {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe sigaddset(&mask, SIGWINCH)
        _ = unsafe pthread_sigmask(SIG_BLOCK, &mask, nil)
    }
}
