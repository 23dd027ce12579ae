// SPDX-License-Identifier: Apache-2.0

/// Random numbers that a printed seed brings back (SplitMix64).
package struct SeededRandom: RandomNumberGenerator, Sendable {
    /// The seed; a test prints it in the comment of its expectations.
    package let seed: UInt64
    private var state: UInt64

    /// Creates a generator; a new seed every time unless one is given.
    package init(seed: UInt64 = .random(in: 0 ... .max)) {
        self.seed = seed
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// White noise at full scale.
    package mutating func noise(count: Int) -> [Int16] {
        (0..<count).map { _ in Int16(truncatingIfNeeded: next()) }
    }

    /// Cuts `count` into pieces of 0 up to `limit`, in order.
    package mutating func pieces(of count: Int, upTo limit: Int) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start = 0
        while start < count {
            let end = min(count, start + Int.random(in: 0...limit, using: &self))
            ranges.append(start..<end)
            start = end
        }
        return ranges
    }
}

extension [UInt8] {
    /// A copy with one bit turned over.
    package func flipped(_ index: Int, bit: UInt8 = 1) -> [UInt8] {
        var copy = self
        copy[index] ^= bit
        return copy
    }
}
