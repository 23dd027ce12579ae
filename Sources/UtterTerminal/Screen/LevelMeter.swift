// SPDX-License-Identifier: Apache-2.0

/// A bar that shows how loud the signal is, and how loud it was a moment ago.
///
/// Pure. From -60 dBFS, where quiet rooms are, to full scale.
package struct LevelMeter: Equatable {
    /// How long the highest peak stays marked.
    private static let hold = Duration.milliseconds(1_500)
    private static let floor: Float = -60
    /// A cell that is filled from its left, in eighths.
    private static let eighths = Array(" ▏▎▍▌▋▊▉█")
    /// One cell that is filled from below.
    private static let steps = Array(" ▁▂▃▄▅▆▇█")

    private var share: Float = 0
    private var held: Float = 0
    private var heldSince: ContinuousClock.Instant?

    package init() {}

    /// Learns how loud the signal is now, in dBFS.
    package mutating func note(decibels: Float, at now: ContinuousClock.Instant) {
        share = min(max((decibels - Self.floor) / -Self.floor, 0), 1)
        let isOver = heldSince.map { now - $0 >= Self.hold } ?? true
        guard share >= held || isOver else { return }
        (held, heldSince) = (share, now)
    }

    /// So many cells with the level in them, the highest peak as a stroke, between two ends.
    package func bar(cells: Int) -> String {
        let filled = Int((share * Float(cells * 8)).rounded())
        var bar = (0..<cells).map { cell in
            Self.eighths[min(max(filled - cell * 8, 0), 8)]
        }
        let peak = min(Int(held * Float(cells)), cells - 1)
        // Where the level is, the peak is too.
        if held > 0, peak * 8 >= filled { bar[peak] = "│" }
        return "▕" + String(bar) + "▏"
    }

    package var cell: String {
        String(Self.steps[min(Int(share * Float(Self.steps.count)), Self.steps.count - 1)])
    }
}
