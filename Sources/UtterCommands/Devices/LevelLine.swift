// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterTerminal

/// The one line that shows how loud a microphone is now.
struct LevelLine {
    static let removal = "\r\u{1B}[K"

    private let reading: SignalProbe.Reading

    init(_ reading: SignalProbe.Reading) { self.reading = reading }

    /// What draws it over the line before.
    var redrawing: String { Self.removal + text(columns: StandardError.columns) }

    /// A bar from -60 to 0 dBFS, the figure, and what is wrong; at most `columns` - 1 columns.
    func text(columns: Int) -> String {
        let steps = 30
        let filled = min(max(Int((reading.peakDecibels + 60) / 60 * Float(steps)), 0), steps)
        let bar =
            String(repeating: "#", count: filled) + String(repeating: "-", count: steps - filled)
        let figure = "\(Int(reading.peakDecibels.rounded())) dBFS"
        let state = reading.state == .good ? "" : "  " + reading.state.rawValue
        return String("\(bar) \(figure)\(state)".prefix(max(0, columns - 1)))
    }
}
