// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file that holds the bytes of a take as they are.
package final class PlainFile: JournalFile {
    private let file: OwnedDescriptor

    /// Takes over a descriptor that is open for reading and, unless the take is complete, writing.
    package init(_ file: consuming OwnedDescriptor) { self.file = file }

    package func write(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError) {
        try writeAll(bytes, to: file.number, at: offset)
    }

    package func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        try retryingInterrupts("read") {
            unsafe pread(file.number, buffer.baseAddress, buffer.count, off_t(offset))
        }
    }

    package func sync() throws(SystemError) {
        try retryingInterrupts("fdatasync") { fdatasync(file.number) }
    }

    package func reserve(_ byteCount: Int) throws(SystemError) {
        try reserveSpace(behind: file.number, byteCount: byteCount)
    }

    package func trim() throws(SystemError) { try releaseSpace(behind: file.number) }

    package func isGone() throws(SystemError) -> Bool { try isRemoved(file.number) }
}
