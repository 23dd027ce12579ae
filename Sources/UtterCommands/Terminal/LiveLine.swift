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
        /// The line; nil when there is none to draw.
        var line: StatusLine?
        /// The newest take whose line was shown: those before it are not, any more.
        var newest = 0
        var schedule = RedrawSchedule()
        /// What is on the screen, and for which window; nil when the line is not there.
        var drawn: (lines: [String], size: WindowSize)?
        var isOver = false
    }

    private let state = Mutex(State())
    private let thread = Mutex<NamedThread?>(nil)
    private let wakeup: Wakeup
    /// Tells that the window has another size.
    private let resizing: SignalDescriptor

    /// Begins without a line.
    ///
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    init() throws(SystemError) {
        wakeup = try Wakeup()
        resizing = try SignalDescriptor(signals: [SIGWINCH])
        let started = try NamedThread(name: "status line") { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Shows the line of a take, as soon as it may be drawn again, unless a newer one has one.
    func show(_ line: StatusLine, of take: Int = 1) {
        let isNews = state.withLock { state in
            guard take >= state.newest else { return false }
            (state.line, state.newest) = (line, take)
            return state.schedule.change()
        }
        if isNews { wakeup.signal() }
    }

    /// Takes the line of a take away.
    func hide(_ take: Int = 1) {
        state.withLock { state in
            guard take == state.newest else { return }
            state.line = nil
            erase(&state)
        }
    }

    /// Writes a line that stays, above the one that changes.
    @discardableResult
    func write<Result: Sendable>(_ body: () -> Result) -> Result {
        let (result, isNews) = state.withLock { state in
            erase(&state)
            return (body(), state.schedule.change())
        }
        if isNews { wakeup.signal() }
        return result
    }

    /// Takes the line away, for good.
    func end() {
        state.withLock { $0.isOver = true }
        wakeup.signal()
        thread.withLock { $0 }?.join()
        state.withLock { erase(&$0) }
    }

    private func erase(_ state: inout State) {
        if state.drawn != nil { StandardError.write(LiveText.erasure()) }
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
        state.schedule.draw(at: now, nextChange: state.line?.nextChange)
        guard let line = state.line else { return }
        let size = WindowSize.current
        let lines = line.lines(
            columns: size.columns, rows: size.rows, hasColour: StandardError.hasColour, at: now)
        if let drawn = state.drawn, drawn == (lines, size) { return }
        StandardError.write(LiveText.drawing(lines))
        state.drawn = (lines, size)
    }
}
