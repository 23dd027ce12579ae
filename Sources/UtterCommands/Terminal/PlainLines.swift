// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// What a take does, in plain lines on standard error, each told in its turn by a thread.
///
/// From any thread. For logs and for those who listen: no line is changed once it is written.
final class PlainLines: Sendable {
    private struct State {
        var pace = PlainPace()
        var isOver = false
    }

    private let state = Mutex(State())
    private let thread = Mutex<NamedThread?>(nil)
    private let wakeup: Wakeup

    /// Begins with nothing to tell.
    ///
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    init() throws(SystemError) {
        wakeup = try Wakeup()
        let started = try NamedThread(name: "status line") { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Tells a line in its turn, unless a newer one takes its place.
    func tell(_ text: String, about topic: PlainPace.Topic) {
        state.withLock { $0.pace.add(text, about: topic) }
        wakeup.signal()
    }

    /// Takes a line back.
    ///
    /// - Returns: whether it was not told yet.
    @discardableResult
    func withdraw(_ topic: PlainPace.Topic) -> Bool {
        state.withLock { $0.pace.withdraw(topic) }
    }

    /// Tells no more: what waits is about what is over.
    func end() {
        state.withLock { $0.isOver = true }
        wakeup.signal()
        thread.withLock { $0 }?.join()
    }

    private func run() {
        while true {
            let (wait, isOver) = state.withLock { state -> (Duration?, Bool) in
                let now = ContinuousClock.now
                // Under the lock: a line that is told later stands below.
                if let text = state.pace.take(at: now) { StandardError.line(text) }
                return (state.pace.wait(at: now), state.isOver)
            }
            if isOver { return }
            var event = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
            // Rounded up: a wait that ends a little too early would spin.
            _ = unsafe poll(&event, 1, wait.map { Int32($0 / .milliseconds(1)) + 1 } ?? -1)
            wakeup.drain()
        }
    }
}
