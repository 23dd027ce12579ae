// SPDX-License-Identifier: Apache-2.0

package import AudioCore
internal import Synchronization

/// The counts of a take's frames so far; written by the capture thread, read by any.
///
/// Frames are of 16 kHz mono, after conversion. At every moment
/// `captured + gaps = encoded + what waits to become silence`.
package final class CaptureAccount: Sendable {
    private let captured = Atomic(0)
    private let lost = Atomic(0)
    private let encoded = Atomic(0)
    private let bytes = Atomic(0)
    private let levelBits = Atomic<UInt64>(0)
    /// Nanoseconds since the account was made, plus 1; 0 without a frame.
    private let firstFrameBits = Atomic<Int64>(0)
    private let made = ContinuousClock.now
    /// Below zero without a level.
    private let peakBits = Atomic<UInt32>(Float(-1).bitPattern)
    /// How loud the encoded frames are; nil where no reader wants that.
    package let powers: PowerTrack?

    package init(
        encodedFrames: Int = 0, gapFrames: Int = 0, encodedBytes: Int = 0,
        powers: PowerTrack? = nil
    ) {
        self.powers = powers
        captured.store(encodedFrames - gapFrames, ordering: .relaxed)
        if gapFrames > 0 { addGap(gapFrames) }
        addEncoded(frames: encodedFrames, bytes: encodedBytes)
    }

    package var capturedFrames: Int { captured.load(ordering: .relaxed) }

    package var firstFrame: ContinuousClock.Instant? {
        let nanoseconds = firstFrameBits.load(ordering: .relaxed)
        return nanoseconds > 0 ? made + .nanoseconds(nanoseconds - 1) : nil
    }

    /// Replaced by silence of the same length.
    package var gapFrames: Int { lost.load(ordering: .relaxed) }

    package var encodedFrames: Int { encoded.load(ordering: .relaxed) }

    package var encodedBytes: Int { bytes.load(ordering: .relaxed) }

    package var level: Level {
        let bits = levelBits.load(ordering: .relaxed)
        return Level(
            peak: Float(bitPattern: UInt32(truncatingIfNeeded: bits >> 32)),
            rootMeanSquare: Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
    }

    /// The peak level; nil when nothing has been captured in this run.
    package var peak: Level? {
        let peak = Float(bitPattern: peakBits.load(ordering: .relaxed))
        return peak < 0 ? nil : Level(peak: peak, rootMeanSquare: 0)
    }

    // The capture thread is the only writer, so that a load and a store make an addition.

    func addCaptured(_ frames: Int) {
        if frames > 0, firstFrameBits.load(ordering: .relaxed) == 0 {
            let (seconds, attoseconds) = (.now - made).components
            firstFrameBits.store(
                seconds * 1_000_000_000 + attoseconds / 1_000_000_000 + 1, ordering: .relaxed)
        }
        captured.store(captured.load(ordering: .relaxed) + frames, ordering: .relaxed)
    }

    func addGap(_ frames: Int) {
        lost.store(lost.load(ordering: .relaxed) + frames, ordering: .relaxed)
    }

    func addEncoded(frames: Int, bytes count: Int) {
        encoded.store(encoded.load(ordering: .relaxed) + frames, ordering: .relaxed)
        bytes.store(bytes.load(ordering: .relaxed) + count, ordering: .relaxed)
    }

    func set(_ level: Level) {
        let bits =
            UInt64(level.peak.bitPattern) << 32 | UInt64(level.rootMeanSquare.bitPattern)
        levelBits.store(bits, ordering: .relaxed)
        let loudest = Float(bitPattern: peakBits.load(ordering: .relaxed))
        if level.peak > loudest { peakBits.store(level.peak.bitPattern, ordering: .relaxed) }
    }
}
