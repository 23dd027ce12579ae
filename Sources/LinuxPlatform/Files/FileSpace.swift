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
    let end = off_t(try fileStatus(of: descriptor).st_size)
    try retryingInterrupts("fallocate") {
        utter_fallocate_beyond_end(descriptor, end, off_t(byteCount))
    }
}

/// Blocks on the disk.
func releaseSpace(behind descriptor: Int32) throws(SystemError) {
    let end = off_t(try fileStatus(of: descriptor).st_size)
    try retryingInterrupts("ftruncate") { ftruncate(descriptor, end) }
}

func isRemoved(_ descriptor: Int32) throws(SystemError) -> Bool {
    try fileStatus(of: descriptor).st_nlink == 0
}

/// Bytes that this user may still store at `path`, quotas not counted; nil when the system does not
/// say.
package func freeByteCount(at path: String) -> Int? {
    var status = statvfs()
    guard unsafe statvfs(path.cPath, &status) == 0 else { return nil }
    return status.freeByteCount
}

extension statvfs {
    /// For an unprivileged user; at most `Int.max`.
    var freeByteCount: Int {
        let (count, overflow) = f_bavail.multipliedReportingOverflow(by: f_frsize)
        return overflow ? .max : Int(clamping: count)
    }
}

/// The corresponding C function is `fstat`.
func fileStatus(of descriptor: Int32, _ call: String = "fstat") throws(SystemError) -> stat {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw SystemError.last(call) }
    return status
}
