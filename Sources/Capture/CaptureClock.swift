// SPDX-License-Identifier: Apache-2.0

/// How many frames a card must have captured by now, judged by the system's clock.
///
/// A card that was stopped by an overrun does not say how much it missed; this does. Each time the
/// card's position is known, position and clock together say when frame 0 was captured. A late look
/// at the clock and a coarse position both make that moment seem too late and never too early, so
/// the earliest one counts. It may creep by 100 ppm, more than a crystal drifts. What is left is
/// the coarseness of the card's position: a frame on most, a few milliseconds on some USB cards.
package struct CaptureClock {
    private let sampleRate: Int
    private var origin: Int64
    private var notedAt: Int64

    /// `now` is `CLOCK_MONOTONIC`, in ns.
    package init(sampleRate: Int, startedAt now: Int64) {
        self.sampleRate = sampleRate
        origin = now
        notedAt = now
    }

    /// The card had captured `frames` at `now`, in ns.
    package mutating func note(frames: Int, at now: Int64) {
        let crept = origin + max(0, now - notedAt) / 10_000
        origin = min(crept, now - duration(frames))
        notedAt = now
    }

    /// `now` in ns.
    package func frames(at now: Int64) -> Int {
        let elapsed = max(0, now - origin)
        let seconds = Int(elapsed / 1_000_000_000)
        let rest = Int(elapsed % 1_000_000_000)
        return seconds * sampleRate + (rest * sampleRate + 500_000_000) / 1_000_000_000
    }

    private func duration(_ frames: Int) -> Int64 {
        let seconds = Int64(frames / sampleRate)
        let rest = Int64(frames % sampleRate)
        return seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(sampleRate)
    }
}
