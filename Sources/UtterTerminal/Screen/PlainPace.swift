// SPDX-License-Identifier: Apache-2.0

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
