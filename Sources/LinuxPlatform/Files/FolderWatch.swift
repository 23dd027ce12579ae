// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Notices names that appear in a folder (`inotify(7)`).
package struct FolderWatch: ~Copyable {
    private let descriptor: OwnedDescriptor

    /// Watches the folder at `path` from now on.
    ///
    /// - Parameters:
    ///   - path: the folder.
    ///   - seesRights: whether it counts too that the rights or the owner of a name change.
    /// - Throws: `SystemError` when there is no such folder, or the person watches too much.
    package init(_ path: String, seesRights: Bool = false) throws(SystemError) {
        let flags = Int32(IN_NONBLOCK | IN_CLOEXEC)
        let number = try retryingInterrupts("inotify_init1") { inotify_init1(flags) }
        let descriptor = OwnedDescriptor(taking: number)
        let rights = seesRights ? IN_ATTRIB : 0
        try retryingInterrupts("watch \(path)") {
            unsafe inotify_add_watch(number, path, UInt32(IN_CREATE | IN_MOVED_TO | rights))
        }
        self.descriptor = descriptor
    }

    /// What to poll for `POLLIN`, for a caller that waits for more.
    package var number: Int32 { descriptor.number }

    package func drain() {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        // EAGAIN is the end of it.
        while unsafe read(descriptor.number, &bytes, bytes.count) > 0 {}
    }

    /// Waits until a name has appeared, or the time is over; nil is for ever.
    package func wait(within limit: Duration?) {
        let pause = limit.map { WorkerPause.until(.now + $0) } ?? .untilWoken
        _ = pause.wait(for: descriptor.number)
    }
}
