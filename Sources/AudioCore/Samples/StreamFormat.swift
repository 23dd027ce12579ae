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
    package var framesPerPeriod: Int { sampleRate / 50 }

    package var bytesPerFrame: Int { channelCount * 2 }

    /// Rounded down to a nanosecond.
    package func duration(ofFrames frames: Int) -> Duration {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: sampleRate)
        return .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / sampleRate)
    }

    package func frames(in duration: Duration) -> Int {
        let parts = duration.components
        let rate = Int128(sampleRate)
        let rest = Int128(parts.attoseconds) * rate / 1_000_000_000_000_000_000
        return Int(clamping: Int128(parts.seconds) * rate + rest)
    }
}
