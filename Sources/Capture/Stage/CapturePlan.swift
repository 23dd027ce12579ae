// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// How long one recording may and must be.
public struct CapturePlan: Sendable {
    /// What follows the request to stop, from a live source.
    public var tail: Tail

    /// Ends the take after exactly this many frames at 16 kHz, gaps included; nil is no limit.
    public var longestFrames: Int?

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - tail: what follows the request to stop.
    ///   - longest: the most that is recorded; rounded down to a frame.
    public init(tail: Tail = .speech, longest: Duration? = nil) {
        self.tail = tail
        longestFrames = longest.map { StreamFormat.speech.frames(in: $0) }
    }
}
