// SPDX-License-Identifier: Apache-2.0

internal import CZlib

enum Inflation {
    /// Decompresses one stream of gzip or zlib (RFC 1952, RFC 1950).
    ///
    /// - Throws: `AnswerError.tooLarge` when more than `limit` bytes come out, which are never held;
    ///   `.undecodable` when it is no such stream, or not all of one.
    static func inflate(_ bytes: [UInt8], limit: Int) throws(AnswerError) -> [UInt8] {
        var inflated: [UInt8] = []
        var room = 16 << 10
        while true {
            var count = min(room, limit + 1)
            var isWhole = false
            let isRead = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) {
                output in
                let result = unsafe bytes.withUnsafeBufferPointer { input in
                    unsafe utter_inflate(
                        input.baseAddress, input.count, output.baseAddress, &count, &isWhole)
                }
                if result { unsafe inflated = Array(output[..<count]) }
                return result
            }
            guard isRead else { throw .undecodable(reason: "not compressed by gzip") }
            if isWhole { break }
            guard count == min(room, limit + 1) else {
                throw .undecodable(reason: "cut off in the middle")
            }
            guard count <= limit else { throw .tooLarge(limit: limit) }
            room *= 4
        }
        guard inflated.count <= limit else { throw .tooLarge(limit: limit) }
        return inflated
    }
}
