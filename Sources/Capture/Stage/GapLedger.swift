// SPDX-License-Identifier: Apache-2.0

/// What one take has lost, and how much of it has not yet been replaced by silence.
///
/// Counts in frames of 16 kHz.
struct GapLedger {
    /// The most gaps that are told apart.
    private static let limit = 1_000

    /// Every hole, in order; the last of 1,000 stands for all that followed.
    private(set) var gaps: [Gap] = []
    /// Frames that still have to become silence.
    private(set) var owed = 0
    /// What earlier losses left over when they were converted, in parts of the source's rate,
    /// so that many small losses add up to the right length.
    private var remainder = 0

    init() { gaps.reserveCapacity(16) }

    /// Converts frames at another rate.
    mutating func speechFrames(lost frames: Int, sampleRate: Int, speechRate: Int) -> Int {
        let parts = remainder + frames * speechRate
        remainder = parts % sampleRate
        return parts / sampleRate
    }

    /// Notes a loss behind `encoded` frames and the silence that is owed.
    ///
    /// Losses that follow each other make one gap.
    mutating func owe(_ frames: Int, cause: Gap.Cause, encoded: Int) {
        let start = encoded + owed
        owed += frames
        let goesOn = gaps.last.map { $0.cause == cause && $0.start + $0.frames == start } ?? false
        if goesOn || gaps.count == Self.limit {
            gaps[gaps.count - 1].frames += frames
        } else {
            gaps.append(Gap(cause: cause, start: start, frames: frames))
        }
    }

    mutating func settle(_ frames: Int) { owed -= frames }
}
