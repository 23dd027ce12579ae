// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// How long one recording may and must be.
public struct CapturePlan: Sendable {
    /// What follows the request to stop, from a live source.
    public var tail: Tail

    /// Ends the take after exactly this many frames at 16 kHz, gaps included; nil is no limit.
    package var longestFrames: Int?

    /// Drops the take when it is asked to end before it has this many frames at 16 kHz; zero drops
    /// none.
    ///
    /// For a live source: a key that was touched.
    var leastFrames = 0

    /// Tells each time when a voice was heard and then none for this many frames at 16 kHz; nil is
    /// never.
    var silenceFrames: Int?

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - tail: what follows the request to stop.
    ///   - longest: the most that is recorded; rounded down to a frame.
    ///   - least: what is shorter when it is asked to end is dropped.
    ///   - silence: after how long without a voice `TakeEvent.quiet` is told.
    public init(
        tail: Tail = .speech, longest: Duration? = nil, least: Duration = .zero,
        silence: Duration? = nil
    ) {
        self.tail = tail
        longestFrames = longest.map { StreamFormat.speech.frames(in: $0) }
        leastFrames = StreamFormat.speech.frames(in: least)
        silenceFrames = silence.map { StreamFormat.speech.frames(in: $0) }
    }
}
