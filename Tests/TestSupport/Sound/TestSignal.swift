// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Sounds to test with, and how alike two of them are.
package enum TestSignal {
    /// Something like speech: harmonics of a gliding pitch in syllables, interleaved, with each
    /// channel a little different.
    package static func voice(frames: Int, sampleRate: Int, channelCount: Int = 1) -> [Int16] {
        var samples: [Int16] = []
        samples.reserveCapacity(frames * channelCount)
        for frame in 0..<frames {
            let time = Double(frame) / Double(sampleRate)
            let phase = 2 * Double.pi * (130 * time + 8 * sin(2 * Double.pi * 0.7 * time))
            let syllable = 0.3 + 0.7 * max(0, sin(2 * Double.pi * 3.1 * time))
            for channel in 0..<channelCount {
                var value = 0.0
                for harmonic in 1...12 {
                    let shift = Double(channel * harmonic) * 0.3
                    value += sin(Double(harmonic) * phase + shift) / Double(harmonic + 1)
                }
                samples.append(Int16(8_000 * syllable * value))
            }
        }
        return samples
    }

    /// The correlation of two signals at lag 0, from -1 to 1, over the shorter one's length.
    package static func correlation(_ one: [Int16], _ other: [Int16]) -> Double {
        let count = min(one.count, other.count)
        guard count > 0 else { return 0 }
        let meanOne = one.prefix(count).reduce(0.0) { $0 + Double($1) } / Double(count)
        let meanOther = other.prefix(count).reduce(0.0) { $0 + Double($1) } / Double(count)
        var (product, squareOne, squareOther) = (0.0, 0.0, 0.0)
        for index in 0..<count {
            let (left, right) = (Double(one[index]) - meanOne, Double(other[index]) - meanOther)
            product += left * right
            squareOne += left * left
            squareOther += right * right
        }
        guard squareOne > 0, squareOther > 0 else { return squareOne == squareOther ? 1 : 0 }
        return product / (squareOne * squareOther).squareRoot()
    }

    /// The greatest difference between samples at equal places.
    package static func maximumDifference(_ one: [Int16], _ other: [Int16]) -> Int {
        zip(one, other).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
    }
}
