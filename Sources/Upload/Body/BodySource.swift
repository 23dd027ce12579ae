// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

/// The bytes of a recording that a body is made of; they grow until they are sealed.
///
/// All of it is usable from any thread, and nothing of it waits for more bytes.
package protocol BodySource: Sendable {
    /// Bytes that can be read.
    var byteCount: Int { get }

    /// Whether no more bytes will come.
    ///
    /// Once true, `byteCount` is final.
    var isSealed: Bool { get }

    /// Reads bytes that are there.
    ///
    /// - Parameters:
    ///   - offset: in bytes from the start, below `byteCount`.
    ///   - buffer: receives at most its size; not empty.
    /// - Returns: how many stand at the start of the buffer now, perhaps fewer than fit; 0 only
    ///   when nothing is there.
    /// - Throws: `SystemError` when they cannot be read.
    func readBytes(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int
}
