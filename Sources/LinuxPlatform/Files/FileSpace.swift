// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Has the disk keep room behind the end of a file; the file's size stays.
///
/// Blocks on the disk.
///
/// - Throws: `SystemError`: `ENOSPC` or `EDQUOT` when there is no room, `EOPNOTSUPP` when the file
///   system cannot promise any.
func reserveSpace(behind descriptor: Int32, byteCount: Int) throws(SystemError) {
    let end = off_t(try status(of: descriptor).st_size)
    try retryingInterrupts("fallocate") {
        utter_fallocate_beyond_end(descriptor, end, off_t(byteCount))
    }
}

/// Gives back what is reserved behind the end of a file.
///
/// Blocks on the disk.
func releaseSpace(behind descriptor: Int32) throws(SystemError) {
    let end = off_t(try status(of: descriptor).st_size)
    try retryingInterrupts("ftruncate") { ftruncate(descriptor, end) }
}

func isRemoved(_ descriptor: Int32) throws(SystemError) -> Bool {
    try status(of: descriptor).st_nlink == 0
}

/// The device of the file system of a file; nil where `syncfs` may not tell of an error.
///
/// It does since Linux 5.8, on file systems with a disk of their own: ext4, XFS, Btrfs, F2FS.
func syncableFileSystem(of descriptor: Int32) -> UInt64? {
    let kinds = [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010]
    guard isLinux5_8, kinds.contains(utter_file_system_kind(descriptor)) else { return nil }
    // Without it, each file is synced by itself.
    return (try? status(of: descriptor)).map { UInt64($0.st_dev) }
}

private let isLinux5_8: Bool = {
    var name = utsname()
    guard unsafe uname(&name) == 0 else { return false }
    let release = unsafe withUnsafeBytes(of: &name.release) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    let numbers = release.split { $0 == "." || $0 == "-" }.prefix(2).map { Int($0) ?? 0 }
    return !numbers.lexicographicallyPrecedes([5, 8])
}()

/// Bytes that this user may still store at `path`, quotas not counted; nil when the system does not
/// say.
package func freeByteCount(at path: String) -> Int? {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { return nil }
    return status.freeByteCount
}

extension statvfs {
    /// For an unprivileged user; at most `Int.max`.
    var freeByteCount: Int {
        let (count, overflow) = f_bavail.multipliedReportingOverflow(by: f_frsize)
        return overflow ? .max : Int(clamping: count)
    }
}

private func status(of descriptor: Int32) throws(SystemError) -> stat {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError.last("fstat") }
    return status
}
