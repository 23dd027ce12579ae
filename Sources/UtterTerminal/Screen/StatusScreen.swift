// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// Shows what runs, painted by a thread of its own: changing lines on a terminal, or lines that
/// stay, for logs.
///
/// From any thread. The lock is held while the terminal takes what is painted.
package final class StatusScreen: Sendable {
    private struct State {
        var live: LivePainter?
        var log: LogPainter?
        /// Calls of `write` under way.
        var writers = 0
        var isOver = false
    }

    /// Shows nothing, and lets others write.
    package static let silent = StatusScreen()

    private let state = Mutex(State())
    /// The thread's wake-ups; `resizing` is `SIGWINCH`.
    private let events: (wakeup: Wakeup, resizing: SignalDescriptor)?
    private let thread = Mutex<NamedThread?>(nil)

    private init() { events = nil }

    /// Starts the thread, which runs until `end()`.
    package init(isLive: Bool) {
        // Without a descriptor or a thread all is said at once, in lines that stay.
        events = try? (Wakeup(), SignalDescriptor(signals: [SIGWINCH]))
        // Again, what fails is told in another way.
        let started = events == nil ? nil : try? NamedThread(name: "status line", run)
        thread.withLock { $0 = started }
        state.withLock { state in
            if isLive, started != nil {
                state.live = LivePainter()
            } else {
                state.log = LogPainter(interval: .seconds(started == nil ? 0 : 1))
            }
        }
    }

    package var isLive: Bool { state.withLock { $0.live != nil } }

    /// On a terminal only the newest take is shown.
    package func show(_ content: ScreenState, of take: Int = 1) {
        let lines = state.withLock { state in
            state.log?.show(content)
            return state.live?.show(content, of: take) ?? []
        }
        if !lines.isEmpty { write { lines.forEach(StandardError.line) } }
        wake()
    }

    package func hide(_ take: Int = 1) {
        state.withLock { state in
            guard state.live?.hide(take) == true else { return }
            erase(&state)
        }
    }

    /// Runs `body`, which writes lines above the changing ones; nothing is drawn meanwhile.
    @discardableResult
    package func write<Result: Sendable>(_ body: () -> Result) -> Result {
        state.withLock { state in
            state.writers += 1
            erase(&state)
        }
        defer {
            state.withLock { state in
                state.writers -= 1
                state.live?.schedule.change()
            }
            wake()
        }
        return body()
    }

    /// Erases everything, for good; lines that wait for their turn are dropped.
    package func end() {
        state.withLock { $0.isOver = true }
        events?.wakeup.signal()
        thread.withLock { $0 }?.join()
        state.withLock { erase(&$0) }
    }

    private func erase(_ state: inout State) {
        if let codes = state.live?.erase() { StandardError.write(codes) }
    }

    private func wake() {
        if thread.withLock({ $0 != nil }) {
            events?.wakeup.signal()
        } else {
            state.withLock { paint(&$0, at: .now) }
        }
    }

    private func run() {
        guard let events else { return }
        while true {
            let (wait, isOver) = state.withLock { state -> (Duration?, Bool) in
                let now = ContinuousClock.now
                paint(&state, at: now)
                return (
                    state.live?.schedule.wait(at: now) ?? state.log?.wait(at: now), state.isOver
                )
            }
            if isOver { return }
            var waits = [events.wakeup.descriptor, events.resizing.number].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            // Rounded up: a wait that ends a little too early would spin.
            _ = unsafe poll(&waits, 2, wait.map { Int32($0 / .milliseconds(1)) + 1 } ?? -1)
            events.wakeup.drain()
            while events.resizing.next() != nil {
                state.withLock { $0.live?.schedule.change() }
            }
        }
    }

    /// Under the lock: a line that is written later stands below.
    private func paint(_ state: inout State, at now: ContinuousClock.Instant) {
        if let text = state.log?.take(at: now) { StandardError.line(text) }
        guard !state.isOver, state.live?.schedule.wait(at: now) == .zero else { return }
        TerminalLoan.draw { isLent in
            let codes = state.live?.draw(
                in: .current, hasColour: StandardError.hasColour, at: now,
                isFree: !isLent && state.writers == 0)
            if let codes { StandardError.write(codes) }
        }
    }
}
