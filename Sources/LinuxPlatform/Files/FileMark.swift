// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What tells whether a path still leads to the same file, with the same content.
package struct FileMark: Equatable, Sendable {
    private let words: [Int]

    /// Looks at what `path` leads to, without following a link at its end; nil when there is nothing.
    package init?(_ path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        words = [
            Int(bitPattern: UInt(status.st_dev)), Int(bitPattern: UInt(status.st_ino)),
            Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
        ]
    }
}
