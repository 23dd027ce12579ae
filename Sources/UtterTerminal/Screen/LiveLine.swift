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
