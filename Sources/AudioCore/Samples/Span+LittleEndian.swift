// SPDX-License-Identifier: Apache-2.0

extension Span<UInt8> {
    /// The unsigned little-endian number of `byteCount` bytes, at most eight, at `offset`.
    func littleEndian(at offset: Int, byteCount: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<byteCount {
            value |= UInt64(self[offset + index]) << UInt64(8 * index)
        }
        return value
    }
}
