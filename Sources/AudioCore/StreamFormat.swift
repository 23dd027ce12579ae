// SPDX-License-Identifier: Apache-2.0

/// The rate and layout of interleaved signed 16-bit PCM.
public struct StreamFormat: Sendable, Hashable {
    /// Frames per second, in Hz; greater than zero.
    public var sampleRate: Int

    /// Samples per frame; greater than zero.
    public var channelCount: Int

    /// Creates a format.
    public init(sampleRate: Int, channelCount: Int) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
    }

    /// What every encoder takes and every recogniser expects: 16 kHz mono.
    public static let speech = StreamFormat(sampleRate: 16_000, channelCount: 1)

    /// Frames in one period of 20 ms, the unit in which the sound card wakes us.
    public var framesPerPeriod: Int { sampleRate / 50 }

    /// Bytes in one frame.
    public var bytesPerFrame: Int { channelCount * 2 }

    /// The time that `frames` frames last.
    public func duration(ofFrames frames: Int) -> Duration {
        .nanoseconds(Int64(frames) * 1_000_000_000 / Int64(sampleRate))
    }

    /// The frames that begin within `duration`, rounded down.
    public func frames(in duration: Duration) -> Int {
        let parts = duration.components
        let whole = parts.seconds * Int64(sampleRate)
        let rest = parts.attoseconds / 1_000_000_000 * Int64(sampleRate) / 1_000_000_000
        return Int(whole + rest)
    }
}
