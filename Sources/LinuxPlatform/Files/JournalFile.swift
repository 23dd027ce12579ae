// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A file that holds the first bytes of a take, in whatever form.
///
/// All offsets are of the audio's plain bytes. Writes are appends: `offset` is the number of bytes
/// that were written before, and a write that failed may be repeated there. One thread writes
/// at a time; any thread reads what was written before, meanwhile.
package protocol JournalFile: Sendable {
    func write(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError)

    /// 0 only at the end of the file.
    func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int

    /// Blocks on the disk.
    func sync() throws(SystemError)

    /// For a sync together with other files (`SyncBatch`); nil for what has no descriptor.
    var descriptor: Int32? { get }

    /// Reserves disk space behind the end of the file, whose size stays; blocks on the disk.
    func reserve(_ byteCount: Int) throws(SystemError)

    /// Gives back what is reserved; blocks on the disk. Nothing is written afterwards.
    func trim() throws(SystemError)

    func isGone() throws(SystemError) -> Bool
}

extension JournalFile {
    // A file that cannot reserve need not, and one without a name cannot lose it.
    package var descriptor: Int32? { nil }
    package func reserve(_ byteCount: Int) throws(SystemError) {}
    package func trim() throws(SystemError) {}
    package func isGone() throws(SystemError) -> Bool { false }
}

/// Takes over a descriptor that is open for reading and, unless the take is complete, writing.
package func makePlainFile(_ file: consuming OwnedDescriptor) -> any JournalFile {
    PlainFile(file)
}

final class PlainFile: JournalFile {
    private let file: OwnedDescriptor
    var descriptor: Int32? { file.number }

    init(_ file: consuming OwnedDescriptor) { self.file = file }

    func write(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError) {
        try writeAll(bytes, to: file.number, at: offset)
    }

    func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        try retryingInterrupts("read") {
            unsafe pread(file.number, buffer.baseAddress, buffer.count, off_t(offset))
        }
    }

    func sync() throws(SystemError) {
        try retryingInterrupts("fdatasync") { fdatasync(file.number) }
    }

    func reserve(_ byteCount: Int) throws(SystemError) {
        try reserveSpace(behind: file.number, byteCount: byteCount)
    }

    func trim() throws(SystemError) { try releaseSpace(behind: file.number) }

    func isGone() throws(SystemError) -> Bool { try isRemoved(file.number) }
}
