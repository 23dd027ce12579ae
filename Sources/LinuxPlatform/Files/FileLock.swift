// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A file that one process at a time has locked, for as long as this value lives (`flock(2)`).
package struct FileLock: ~Copyable {
    private let file: OwnedDescriptor

    var number: Int32 { file.number }

    /// How often a lock is asked for again that another process holds, in milliseconds.
    private static let interval: Int32 = 5

    /// Locks the file at `path`, which is made when it is missing.
    ///
    /// For what takes a moment: blocks while another process holds it.
    ///
    /// - Throws: `SystemError`; `EWOULDBLOCK` when it was held until `deadline`.
    package init(path: String, until deadline: ContinuousClock.Instant) throws(SystemError) {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC
        let number = try retryingInterrupts("open \(path)") {
            unsafe utter_openat(AT_FDCWD, path, flags, 0o600)
        }
        let file = OwnedDescriptor(taking: number)
        while flock(number, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, deadline > .now else {
                throw SystemError.last("lock \(path)")
            }
            _ = poll(nil, 0, Self.interval)
        }
        self.file = file
    }

    /// As `Folder` does, for the same reason.
    deinit { _ = flock(number, LOCK_UN) }
}
