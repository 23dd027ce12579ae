// SPDX-License-Identifier: Apache-2.0

/// A file that holds the first bytes of a take, in whatever form.
///
/// All offsets are of the audio's plain bytes. Writes are appends: `offset` is the number of bytes
/// that were written before, and a write that failed may be repeated there. One thread writes
/// at a time; any thread reads what was written before, meanwhile.
package protocol JournalFile: Sendable {
    func write(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError)

    /// Reads at least one byte, or returns 0 at the end of the file.
    func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int

    /// Makes everything that was written durable.
    ///
    /// Blocks on the disk.
    func sync() throws(SystemError)

    /// The file system that it is on, when one call makes all of that durable and says when it could
    /// not (`syncfs`).
    var fileSystem: UInt64? { get }

    /// Makes everything durable that was written to the file system, by whatever program.
    func syncFileSystem() throws(SystemError)

    /// Has the disk keep `byteCount` bytes free behind the end of the file, whose size stays.
    ///
    /// Blocks on the disk.
    func reserve(_ byteCount: Int) throws(SystemError)

    /// Gives back what is reserved.
    ///
    /// Blocks on the disk. Called once nothing will be written any more.
    func trim() throws(SystemError)

    /// Whether the file was removed, so that no name leads to it any more.
    func isGone() throws(SystemError) -> Bool
}

extension JournalFile {
    // What cannot reserve need not, and what has no name cannot lose it.
    package var fileSystem: UInt64? { nil }
    package func syncFileSystem() throws(SystemError) { try sync() }
    package func reserve(_ byteCount: Int) throws(SystemError) {}
    package func trim() throws(SystemError) {}
    package func isGone() throws(SystemError) -> Bool { false }
}
