// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Reads from where a descriptor stands to its end; blocks, on a pipe for as long as that is open.
///
/// - Parameters:
///   - descriptor: a file or a pipe, open for reading.
///   - limit: as many bytes are read at most.
///   - patience: how long each piece may be awaited, of a descriptor that does not block; nil is
///     for ever.
///   - isEnough: whether what was read already is all that is wanted.
/// - Returns: the bytes.
/// - Throws: `SystemError`; `EFBIG` when there are more than `limit`, `ETIMEDOUT` when nothing comes.
package func readAll(
    _ descriptor: Int32, limit: Int, patience: Duration? = nil,
    until isEnough: ([UInt8]) -> Bool = { _ in false }
) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: min(limit, 1 << 16) + 1)
    while !isEnough(bytes) {
        // One byte more than there should be, so that a file that is too long is noticed.
        let wanted = min(buffer.count, limit + 1 - bytes.count)
        if let patience {
            let end = ContinuousClock.now + patience
            while !WorkerPause.until(end).wait(for: descriptor) {
                guard end > .now else { throw SystemError(call: "read", code: ETIMEDOUT) }
            }
        }
        let count = try retryingInterrupts("read") {
            unsafe read(descriptor, &buffer, wanted)
        }
        guard count > 0 else { return bytes }
        bytes += buffer[..<count]
        guard bytes.count <= limit else { throw SystemError(call: "read", code: EFBIG) }
    }
    return bytes
}
