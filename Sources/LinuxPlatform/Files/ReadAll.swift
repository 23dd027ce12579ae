// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Reads from where a descriptor stands to its end; blocks, on a pipe for as long as that is open.
///
/// - Parameters:
///   - descriptor: a file or a pipe, open for reading.
///   - limit: as many bytes are read at most.
///   - isEnough: whether what was read already is all that is wanted.
/// - Returns: the bytes.
/// - Throws: `SystemError`; `EFBIG` when there are more than `limit`.
package func readAll(
    _ descriptor: Int32, limit: Int, until isEnough: ([UInt8]) -> Bool = { _ in false }
) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: min(limit, 1 << 16) + 1)
    while !isEnough(bytes) {
        // One byte more than there should be, so that a file that is too long is noticed.
        let wanted = min(buffer.count, limit + 1 - bytes.count)
        let count = try retryingInterrupts("read") {
            unsafe read(descriptor, &buffer, wanted)
        }
        guard count > 0 else { return bytes }
        bytes += buffer[..<count]
        guard bytes.count <= limit else { throw SystemError(call: "read", code: EFBIG) }
    }
    return bytes
}
