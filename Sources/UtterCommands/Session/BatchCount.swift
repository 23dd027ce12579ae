// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import UtterTerminal

/// How far the sending of many recordings has come; pure.
struct BatchCount: Equatable, LiveContent {
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

    var nextChange: Duration? { nil }

    /// A line: `send ▕███···▏ 3/10, 1 failed, 8.3× real time`.
    func lines(
        columns: Int, rows: Int, hasColour: Bool, at now: ContinuousClock.Instant
    ) -> [String] {
        let counts = " \(done)/\(total)" + (failed > 0 ? ", \(failed) failed" : "")
        let speed = speed(at: now).map { ", \($0)× real time" } ?? ""
        // Two ends, a blank before them, and a column that stays free.
        let ends = verb.count + 4
        let words = counts.count + speed.count + ends + 5 < columns ? counts + speed : counts
        let room = min(40, columns - words.count - ends)
        guard room >= 4, total > 0 else {
            return [String("\(verb)\(counts)".prefix(max(0, columns - 1)))]
        }
        let share = (Double(done) + parts.values.reduce(0, +)) / Double(total)
        let filled = min(room, Int(Double(room) * share))
        return [
            "\(verb) ▕" + String(repeating: "█", count: filled)
                + String(repeating: "·", count: room - filled) + "▏" + words
        ]
    }

    /// What became of them: `9 of 10 answered, 1 failed; 2:31 of audio in 0:12, 12.6× real time`.
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

    /// Such as `1:02`.
    private static func clock(_ time: Duration) -> String {
        let seconds = Int((time / .seconds(1)).rounded())
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }

    /// How many seconds of audio were answered in one, to the tenth; nil before there are any.
    private func speed(at now: ContinuousClock.Instant) -> String? {
        guard audio > .zero, now > start else { return nil }
        let tenths = Int((10 * (audio / (now - start))).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// Shows how far the sending of many recordings has come.
///
/// From any thread.
final class BatchProgress: Sendable {
    private let count: Mutex<BatchCount>
    /// The line; nil where there is none.
    let live: LiveLine?

    /// Begins to show a count, where there is a line for it.
    init(_ count: BatchCount, on live: LiveLine?) {
        self.live = live
        self.count = Mutex(count)
        live?.show(count)
    }

    func note(_ change: (inout BatchCount) -> Void) {
        count.withLock { count in
            change(&count)
            // Under the lock: what is older is not shown behind what is newer.
            live?.show(count)
        }
    }

    /// Has lines written that stay, above the one that changes.
    @discardableResult
    func write<Value: Sendable>(_ body: () -> Value) -> Value {
        guard let live else { return body() }
        return live.write(body)
    }

    /// Takes the line away, for good.
    ///
    /// - Returns: the count.
    func end() -> BatchCount {
        live?.end()
        return count.withLock { $0 }
    }
}
