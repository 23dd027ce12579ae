// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// How long one recording may and must be.
public struct CapturePlan: Sendable {
    /// How long a live source goes on after the request to stop.
    public var tail: Tail

    /// The most frames, at 16 kHz with gaps included; nil: no limit.
    package var longestFrames: Int?

    /// Drops a take that is stopped before it has this many frames at 16 kHz: a key was only
    /// touched; for live sources; zero drops none.
    var leastFrames = 0

    /// Reports each silence of this many frames at 16 kHz after a voice; nil: never.
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

/// Decides how long to keep recording after the key's release, so that the last word is whole.
///
/// People release the key while the last syllable still sounds. The tail lasts `usual`, ends
/// early once it has been quiet for `quiet`, and goes on up to `longest` while the voice does.
public struct Tail: Sendable, Equatable {
    /// Frames of silence that end the tail.
    var quiet: Int
    /// Frames; the tail of a voice that trails off.
    var usual: Int
    /// Frames; the end even of a voice that goes on.
    var longest: Int

    package init(quiet: Duration, usual: Duration, longest: Duration) {
        self.quiet = StreamFormat.speech.frames(in: quiet)
        self.usual = StreamFormat.speech.frames(in: usual)
        self.longest = StreamFormat.speech.frames(in: longest)
    }

    /// A tail that lasts `usual`, half of that in silence, and up to 500 ms more while the voice
    /// goes on; none at all when `usual` is zero.
    public init(usual: Duration) {
        self.init(
            quiet: usual / 2, usual: usual,
            longest: usual == .zero ? .zero : usual + .milliseconds(500))
    }

    /// 150 ms of quiet, 300 ms usually, 800 ms at most.
    public static let speech = Tail(
        quiet: .milliseconds(150), usual: .milliseconds(300), longest: .milliseconds(800))

    /// Ends at the release.
    public static let none = Tail(quiet: .zero, usual: .zero, longest: .zero)

    /// `silent` is how many of the last frames had no voice.
    func isOver(recorded: Int, silent: Int) -> Bool {
        if recorded >= longest { return true }
        if recorded >= usual { return silent > 0 }
        return recorded >= quiet && silent >= quiet
    }
}
