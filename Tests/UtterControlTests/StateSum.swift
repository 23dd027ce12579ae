// SPDX-License-Identifier: Apache-2.0

/// Two sums of all numbers of a state, which no two of some hundred thousand states have in common.
///
/// Arrays of the numbers would be hashed and compared one by one, without optimisation.
struct StateSum: Hashable {
    private var first: UInt64 = 0xCBF2_9CE4_8422_2325
    private var second: UInt64 = 0

    /// Adds a number, as FNV-1a does and as a linear congruential generator does.
    mutating func add(_ number: Int) {
        let bits = UInt64(bitPattern: Int64(number))
        first = (first ^ bits) &* 0x0000_0100_0000_01B3
        second = (second &+ bits &+ 1) &* 0x9E37_79B9_7F4A_7C15
        second ^= second >> 29
    }
}
