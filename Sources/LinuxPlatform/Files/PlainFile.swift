// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

package final class PlainFile: JournalFile {
    private let file: OwnedDescriptor
    package let fileSystem: UInt64?

    /// Takes over a descriptor that is open for reading and, unless the take is complete, writing.
    package init(_ file: consuming OwnedDescriptor) {
        fileSystem = syncableFileSystem(of: file.number)
        self.file = file
    }

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

    package func syncFileSystem() throws(SystemError) {
        try retryingInterrupts("syncfs") { syncfs(file.number) }
    }

    package func reserve(_ byteCount: Int) throws(SystemError) {
        try reserveSpace(behind: file.number, byteCount: byteCount)
    }

    package func trim() throws(SystemError) { try releaseSpace(behind: file.number) }

    package func isGone() throws(SystemError) -> Bool { try isRemoved(file.number) }
}
