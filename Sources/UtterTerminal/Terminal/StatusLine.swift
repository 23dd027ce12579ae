// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// The one line on a terminal that shows a running take.
///
/// Pure: it says what to print for a width, and prints nothing.
package struct StatusLine: Equatable {
    /// What the take is doing.
    enum Phase: String {
        case opening = "opening"
        case recording = "rec"
        case sending = "send"
        case waiting = "wait"
        case refused = "refused"
    }

    var phase = Phase.opening
    var elapsed = Duration.zero
    var level = Level.silence
    var journaledByteCount = 0
    var sentByteCount = 0
    var isUnprotected = false
    var partial = ""

    /// Levels from -60 to 0 dBFS, 7.5 dB a step.
    private static let bars = Array(" ▁▂▃▄▅▆▇█")

    /// The line, at most `columns` - 1 columns wide, colour codes not counted.
    ///
    /// The partial text is cut at its front: the newest words matter. What else does not fit is
    /// left out from the right.
    func text(columns: Int, hasColour: Bool) -> String {
        let head = "\(phase.rawValue) \(Self.clock(elapsed)) "
        let facts =
            " \(Self.size(journaledByteCount)) \(isUnprotected ? "not protected" : "kept"),"
            + " \(Self.size(sentByteCount)) sent"
        let width = max(0, columns - 1)
        var line = head + meter
        if line.count + facts.count <= width { line += facts }
        let room = width - line.count - 2
        let words = TerminalText.singleLine(partial)
        if room > 8 && !words.isEmpty { line += "  " + TextWidth.suffix(of: words, columns: room) }
        line = String(line.prefix(width))
        let name = phase.rawValue
        guard hasColour && line.hasPrefix(name) else { return line }
        let colour = phase == .recording ? "31" : phase == .refused ? "33" : "36"
        return "\u{1B}[\(colour)m\(name)\u{1B}[0m" + line.dropFirst(name.count)
    }

    private var meter: String {
        let step = Int((level.peakDecibels + 60) / 7.5)
        return String(Self.bars[min(max(step, 0), Self.bars.count - 1)])
    }

    /// Minutes, seconds and tenths.
    package static func clock(_ duration: Duration) -> String {
        let tenths =
            Int(duration.components.seconds) * 10
            + Int(duration.components.attoseconds / 100_000_000_000_000_000)
        let seconds = tenths / 10 % 60
        return "\(tenths / 600):\(seconds < 10 ? "0" : "")\(seconds).\(tenths % 10)"
    }

    /// Seconds, to the hundredth below ten.
    static func seconds(_ duration: Duration) -> String {
        let hundredths =
            Int(duration.components.seconds) * 100
            + Int(duration.components.attoseconds / 10_000_000_000_000_000)
        guard hundredths < 1_000 else { return "\(hundredths / 100) s" }
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) s"
    }

    /// A byte count with a unit.
    static func size(_ count: Int) -> String {
        count < 1_000
            ? "\(count) B"
            : count < 1_000_000
                ? "\(count / 1_000) kB"
                : "\(count / 1_000_000).\(count / 100_000 % 10) MB"
    }
}
