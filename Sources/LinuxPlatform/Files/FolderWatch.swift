// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Notices names that appear in a folder (`inotify(7)`).
package struct FolderWatch: ~Copyable {
    private let descriptor: OwnedDescriptor

    /// Watches the folder at `path` from now on.
    ///
    /// - Throws: `SystemError` when there is no such folder, or the person watches too much.
    package init(_ path: String) throws(SystemError) {
        let flags = Int32(IN_NONBLOCK | IN_CLOEXEC)
        let number = try retryingInterrupts("inotify_init1") { inotify_init1(flags) }
        let descriptor = OwnedDescriptor(taking: number)
        try retryingInterrupts("watch \(path)") {
            unsafe inotify_add_watch(number, path, UInt32(IN_CREATE | IN_MOVED_TO))
        }
        self.descriptor = descriptor
    }

    /// Waits until a name has appeared, or the time is over; nil is for ever.
    package func wait(within limit: Duration?) {
        let pause = limit.map { WorkerPause.until(.now + $0) } ?? .untilWoken
        _ = pause.wait(for: descriptor.number)
    }
}
