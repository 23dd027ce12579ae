// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import UtterTerminal

/// How far the sending of many recordings has come; pure.
struct BatchCount {
    private let verb: String
    private let total: Int
    private let start: ContinuousClock.Instant
    var answered = 0
    var failed = 0
    /// Sent or removed by another process meanwhile.
    var elsewhere = 0
    /// Not sent, because their service does not take any, or the person wants to leave.
    var left = 0
    /// How much of each that is being sent the service has, from 0 to 1.
    var parts: [Int: Double] = [:]
    /// How long the recordings are that were answered, where that is told.
    private var audio = Duration.zero

    init(_ verb: String, total: Int, at start: ContinuousClock.Instant = .now) {
        self.verb = verb
        self.total = total
        self.start = start
    }

    /// Notes that one is over; of one that was not sent there is no length.
    mutating func finish(_ index: Int, _ length: Duration?, hasFailed: Bool) {
        parts[index] = nil
        if hasFailed {
            failed += 1
        } else {
            answered += 1
            audio += length ?? .zero
        }
    }

    private var done: Int { answered + failed + elsewhere + left }

    /// The line on the screen: `send ▕███···▏ 3/10, 1 failed, 8.3× real time`.
    func screen(at now: ContinuousClock.Instant) -> ScreenState {
        let counts = "\(done)/\(total)" + (failed > 0 ? ", \(failed) failed" : "")
        let speed = speed(at: now).map { "\(counts), \($0)× real time" }
        let share = (Double(done) + parts.values.reduce(0, +)) / Double(max(1, total))
        return ScreenState(
            verb, facts: [.share(share), .text([speed, counts].compactMap(\.self))])
    }

    /// The summary of all: `9 of 10 answered, 1 failed; 2:31 of audio in 0:12, 12.6× real time`.
    func summary(at now: ContinuousClock.Instant) -> String {
        let counts = [
            (failed, "failed"), (elsewhere, "gone or sent by another utter"), (left, "left"),
        ]
        let others = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let text = (["\(answered) of \(total) answered"] + others).joined(separator: ", ")
        guard audio > .zero else { return text }
        return text + "; \(Self.clock(audio)) of audio in \(Self.clock(now - start))"
            + (speed(at: now).map { ", \($0)× real time" } ?? "")
    }

    private static func clock(_ time: Duration) -> String {
        String(StatusLine.clock(time + .milliseconds(500)).dropLast(2))
    }

    /// How many seconds of audio were answered in one, to the tenth; nil before there are any.
    private func speed(at now: ContinuousClock.Instant) -> String? {
        guard audio > .zero, now > start else { return nil }
        let tenths = Int((10 * (audio / (now - start))).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// Shows how far the sending of many recordings has come; from any thread.
final class BatchProgress: Sendable {
    private let count: Mutex<BatchCount>
    let screen: StatusScreen

    init(_ count: BatchCount, on screen: StatusScreen) {
        self.screen = screen
        self.count = Mutex(count)
        screen.show(count.screen(at: .now))
    }

    func note(_ change: (inout BatchCount) -> Void) {
        count.withLock { count in
            change(&count)
            // Under the lock: what is older is not shown behind what is newer.
            screen.show(count.screen(at: .now))
        }
    }

    func end() -> BatchCount {
        screen.end()
        return count.withLock { $0 }
    }
}
