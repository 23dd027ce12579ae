// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// A file that holds the first bytes of a take, in whatever form.
///
/// All offsets are of the audio's plain bytes. Writes are appends: `offset` is the number of bytes
/// that were written before, and a write that failed may be repeated there. One thread writes
/// at a time; any thread reads what was written before, meanwhile.
protocol JournalFile: Sendable {
    /// Writes all bytes, or throws.
    func write(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError)

    /// Reads at least one byte, or returns 0 at the end of the file.
    func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int

    /// Marks the end, in a form that knows such a mark.
    ///
    /// Called once, by the thread that writes, when nothing will be written any more.
    func finish() throws(SystemError)

    /// Makes everything that was written durable.
    ///
    /// Blocks on the disk.
    func sync() throws(SystemError)

    /// Has the disk keep `byteCount` bytes free behind the end of the file, whose size stays.
    ///
    /// Blocks on the disk.
    func reserve(_ byteCount: Int) throws(SystemError)

    /// Gives back what is reserved.
    ///
    /// Blocks on the disk. Called once nothing will be written any more.
    func trim() throws(SystemError)
}

extension JournalFile {
    // What has no mark of its end is whole when its manifest says so.
    func finish() throws(SystemError) {}
    // What cannot reserve need not.
    func reserve(_ byteCount: Int) throws(SystemError) {}
    func trim() throws(SystemError) {}
}
