// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Notices names that appear in a folder (`inotify(7)`).
package struct FolderWatch: ~Copyable {
    private let descriptor: OwnedDescriptor

    /// With `seesRights`, a change of a name's rights or owner counts, too.
    package init(_ path: String, seesRights: Bool = false) throws(SystemError) {
        let flags = Int32(IN_NONBLOCK | IN_CLOEXEC)
        let number = try retryingInterrupts("inotify_init1") { inotify_init1(flags) }
        let descriptor = OwnedDescriptor(taking: number)
        let rights = seesRights ? IN_ATTRIB : 0
        try retryingInterrupts("watch \(path)") {
            unsafe inotify_add_watch(number, path.cPath, UInt32(IN_CREATE | IN_MOVED_TO | rights))
        }
        self.descriptor = descriptor
    }

    package var number: Int32 { descriptor.number }

    package func drain() {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        // EAGAIN is the end of it.
        while unsafe read(descriptor.number, &bytes, bytes.count) > 0 {}
    }

    /// Waits until a name has appeared; nil: for ever.
    package func wait(within limit: Duration?) {
        _ = WorkerPause(until: limit.map { ContinuousClock.now + $0 }).wait(for: descriptor.number)
    }
}

/// A fingerprint that tells whether a path still leads to the same file, with the same content.
package struct FileMark: Equatable, Sendable {
    private let words: [Int]

    /// Looks at what `path` leads to, and `followsLinks` at its end if that is wanted; nil when there is
    /// nothing.
    package init?(_ path: String, followsLinks: Bool = false) {
        var status = stat()
        let flags = followsLinks ? 0 : AT_SYMLINK_NOFOLLOW
        guard unsafe fstatat(AT_FDCWD, path.cPath, &status, flags) == 0 else { return nil }
        words = [
            Int(bitPattern: UInt(status.st_dev)), Int(bitPattern: UInt(status.st_ino)),
            Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
        ]
    }
}
