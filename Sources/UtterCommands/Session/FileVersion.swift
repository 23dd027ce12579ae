// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file as it is at a moment: who writes to it, or puts another in its place, makes another one.
struct FileVersion: Sendable, Equatable {
    private let device, number, byteCount: Int
    private let modified, changed: Int

    /// Looks at a file; nil when there is none.
    init?(of path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        (device, number) = (Int(status.st_dev), Int(status.st_ino))
        byteCount = Int(status.st_size)
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
    }

    private static func nanoseconds(_ time: timespec) -> Int {
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
