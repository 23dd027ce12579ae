// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// A copy with one bit turned over.
    package func flipped(_ index: Int, bit: UInt8 = 1) -> [UInt8] {
        var copy = self
        copy[index] ^= bit
        return copy
    }
}
