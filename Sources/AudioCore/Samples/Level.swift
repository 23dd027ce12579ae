// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// How loud a stretch of samples is.
public struct Level: Sendable, Hashable {
    /// The largest magnitude, from 0 to 1 (full scale).
    package let peak: Float

    /// The root of the mean square, from 0 to 1.
    package let rootMeanSquare: Float

    package init(peak: Float, rootMeanSquare: Float) {
        self.peak = peak
        self.rootMeanSquare = rootMeanSquare
    }

    /// Zeros for no samples.
    package init(of samples: Span<Int16>) {
        var largest: Int32 = 0
        var sum: Int64 = 0
        for index in samples.indices {
            let sample = Int32(samples[index])
            largest = max(largest, abs(sample))
            // Without a check for overflow, which would take 10^13 samples, this becomes SIMD.
            sum &+= Int64(sample * sample)
        }
        let mean = samples.isEmpty ? 0 : Double(sum) / Double(samples.count)
        peak = Float(largest) / 32_768
        rootMeanSquare = Float(mean.squareRoot() / 32_768)
    }

    /// The peak in dBFS: 0 is full scale, -96 is silence.
    public var peakDecibels: Float { Self.decibels(peak) }

    /// The root mean square in dBFS: 0 is full scale, -96 is silence.
    public var decibels: Float { Self.decibels(rootMeanSquare) }

    private static func decibels(_ value: Float) -> Float {
        max(-96, 20 * log10(max(value, 1e-7)))
    }
}
