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

/// How much of a file system is in use, from 0 to 1; 0 without a limit, nil when the system does not
/// say.
package func usedShare(at path: String) -> Double? {
    var status = statvfs()
    guard unsafe statvfs(path.cPath, &status) == 0 else { return nil }
    guard status.f_blocks > 0 else { return 0 }
    return 1 - Double(status.f_bavail) / Double(status.f_blocks)
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

/// Counts of bytes on a disk, as a person reads them.
package enum DiskSpace {
    package static func text(_ count: Int) -> String {
        count < 10_000_000 ? "\(count / 1_000) kB" : "\(count / 1_000_000) MB"
    }

    /// As a person writes it: with the greatest unit of which it is a multiple.
    package static func text(ofLimit limit: Int) -> String {
        let units = [(40, "T"), (30, "G"), (20, "M"), (10, "k")]
        let unit = units.first { limit > 0 && limit % (1 << $0.0) == 0 }
        return unit.map { "\(limit >> $0.0)\($0.1)" } ?? "\(limit) bytes"
    }

    /// Says that a disk has less room left than a limit.
    package static func shortage(_ free: Int, limit: Int) -> String {
        "the disk has only \(text(free)) left, less than \(text(ofLimit: limit))"
    }
}
