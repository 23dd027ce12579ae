// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// What a take does, in plain lines on standard error, each told in its turn by a thread, which ends
/// with this.
///
/// From any thread. For logs and for those who listen: no line is changed once it is written.
package final class PlainLines: Sendable {
    private struct State {
        var pace = PlainPace()
        var isOver = false
    }

    /// What the thread has: not its owner, which would never go then.
    private final class Desk: Sendable {
        let state = Mutex(State())
        let wakeup: Wakeup

        init() throws(SystemError) { wakeup = try Wakeup() }

        func run() {
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

    private let desk: Desk
    private let thread: NamedThread

    /// Begins with nothing to tell.
    ///
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    package init() throws(SystemError) {
        let desk = try Desk()
        self.desk = desk
        thread = try NamedThread(name: "status line") { desk.run() }
    }

    deinit { end() }

    /// Tells a line in its turn, unless a newer one takes its place.
    package func tell(_ text: String, about topic: PlainPace.Topic) {
        desk.state.withLock { $0.pace.add(text, about: topic) }
        desk.wakeup.signal()
    }

    /// Takes a line back; whether it was not told yet.
    package func withdraw(_ topic: PlainPace.Topic) -> Bool {
        desk.state.withLock { $0.pace.withdraw(topic) }
    }

    /// Tells no more: what waits is about what is over.
    package func end() {
        desk.state.withLock { $0.isOver = true }
        desk.wakeup.signal()
        thread.join()
    }
}

/// Decides when plain lines are told, so that a listener can follow: at most one a second.
///
/// Pure. A line that has become untrue before its turn is not told.
package struct PlainPace {
    /// What a line is about; a newer line takes the place of one that waits.
    package enum Topic {
        /// Where the recording is: at the microphone, on its way, at the service.
        case course
        /// Whether the service can be reached.
        case connection
    }

    /// The least time between two lines.
    static let interval = Duration.seconds(1)

    private var waiting: [(topic: Topic, text: String)] = []
    private var next: ContinuousClock.Instant?

    /// Gives a line to be told in its turn.
    mutating func add(_ text: String, about topic: Topic) {
        withdraw(topic)
        waiting.append((topic, text))
    }

    /// Takes a line back that has not been told; whether there was one.
    @discardableResult
    mutating func withdraw(_ topic: Topic) -> Bool {
        defer { waiting.removeAll { $0.topic == topic } }
        return waiting.contains { $0.topic == topic }
    }

    /// The line that is to be told now, which counts as told; nil when there is none.
    mutating func take(at now: ContinuousClock.Instant) -> String? {
        guard wait(at: now) == .zero else { return nil }
        next = now + Self.interval
        return waiting.removeFirst().text
    }

    /// How long to wait before a line is told; nil is until there is one.
    func wait(at now: ContinuousClock.Instant) -> Duration? {
        waiting.isEmpty ? nil : max(.zero, (next ?? now) - now)
    }
}
