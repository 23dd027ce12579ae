// SPDX-License-Identifier: Apache-2.0

/// How far the sending of many files has come; pure.
package struct BatchCount: Equatable {
    /// How many there are.
    package let total: Int
    /// Those that were answered, and the others that are over.
    package private(set) var answered = 0
    package private(set) var failed = 0
    /// How much of each that is being sent the service has, from 0 to 1.
    package var parts: [Int: Double] = [:]
    /// How long the recordings are that were answered.
    private var audio = Duration.zero

    /// Begins with nothing sent.
    package init(total: Int) { self.total = total }

    /// Notes that a file is over.
    package mutating func finish(_ index: Int, _ length: Duration?, hasFailed: Bool) {
        parts[index] = nil
        if hasFailed {
            failed += 1
        } else {
            answered += 1
            audio += length ?? .zero
        }
    }

    /// A line of at most `columns` - 1 columns: `send ▕███···▏ 3/10, 1 failed, 8.3× real time`.
    package func line(columns: Int, after time: Duration) -> String {
        let counts = " \(answered + failed)/\(total)" + (failed > 0 ? ", \(failed) failed" : "")
        let speed = speed(after: time).map { ", \($0)× real time" } ?? ""
        let words = counts.count + speed.count + 13 < columns ? counts + speed : counts
        let room = min(40, columns - words.count - 8)
        guard room >= 4, total > 0 else {
            return String("send\(counts)".prefix(max(0, columns - 1)))
        }
        let done = Double(answered + failed) + parts.values.reduce(0, +)
        let filled = min(room, Int(Double(room) * done / Double(total)))
        return "send ▕" + String(repeating: "█", count: filled)
            + String(repeating: "·", count: room - filled) + "▏" + words
    }

    /// What became of them: `9 of 10 answered, 1 failed; 2:31 of audio in 0:12, 12.6× real time`.
    package func summary(after time: Duration) -> String {
        var text = "\(answered) of \(total) answered" + (failed > 0 ? ", \(failed) failed" : "")
        if audio > .zero {
            text += "; \(Self.clock(audio)) of audio in \(Self.clock(time))"
            if let speed = speed(after: time) { text += ", \(speed)× real time" }
        }
        return text
    }

    /// Such as `1:02`.
    private static func clock(_ time: Duration) -> String {
        let seconds = Int((time / .seconds(1)).rounded())
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }

    /// How many seconds of audio were answered in one, to the tenth; nil before there are any.
    private func speed(after time: Duration) -> String? {
        guard audio > .zero, time > .zero else { return nil }
        let tenths = Int((10 * (audio / time)).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
