// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// The lines on the terminal that show a take, drawn by a thread of its own.
///
/// From any thread. The lock is held while the terminal takes bytes: two threads must not write to
/// it at once.
final class LiveLine: Sendable {
    private struct State {
        var line: StatusLine
        var schedule = RedrawSchedule()
        /// What is on the screen, and for which window; nil when the line is not there.
        var drawn: (lines: [String], size: WindowSize)?
        var isOver = false
    }

    private let state: Mutex<State>
    private let thread = Mutex<NamedThread?>(nil)
    private let wakeup: Wakeup
    /// Tells that the window has another size.
    private let resizing: SignalDescriptor
    /// Tells how many line feeds were typed since it was asked last.
    private let takeEchoedLines: @Sendable () -> Int

    /// Begins with a line that is not drawn before it changes.
    ///
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    init(
        _ line: StatusLine, takeEchoedLines: @escaping @Sendable () -> Int
    ) throws(SystemError) {
        state = Mutex(State(line: line))
        self.takeEchoedLines = takeEchoedLines
        wakeup = try Wakeup()
        resizing = try SignalDescriptor(signals: [SIGWINCH])
        let started = try NamedThread(name: "status line") { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Shows another line, as soon as it may be drawn again.
    func show(_ line: StatusLine) {
        let isNews = state.withLock { state in
            state.line = line
            return state.schedule.change()
        }
        if isNews { wakeup.signal() }
    }

    /// Writes a line that stays, above the one that changes.
    func write(_ body: () -> Void) {
        let isNews = state.withLock { state in
            erase(&state)
            body()
            return state.schedule.change()
        }
        if isNews { wakeup.signal() }
    }

    /// Takes the line away, for good.
    func end() {
        state.withLock { $0.isOver = true }
        wakeup.signal()
        thread.withLock { $0 }?.join()
        state.withLock { erase(&$0) }
    }

    private func erase(_ state: inout State) {
        // What was typed while nothing was drawn is above, and stays.
        let lineFeeds = takeEchoedLines()
        if state.drawn != nil {
            StandardError.write(LiveText.erasure(afterLineFeeds: lineFeeds))
        }
        state.drawn = nil
    }

    /// Draws until the end.
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
        let size = WindowSize.current
        let lines = state.line.lines(
            columns: size.columns, rows: size.rows, hasColour: StandardError.hasColour, at: now)
        state.schedule.draw(at: now, nextChange: state.line.nextChange)
        let lineFeeds = takeEchoedLines()
        if let drawn = state.drawn, drawn == (lines, size), lineFeeds == 0 { return }
        StandardError.write(
            LiveText.drawing(lines, afterLineFeeds: state.drawn == nil ? 0 : lineFeeds))
        state.drawn = (lines, size)
    }
}
