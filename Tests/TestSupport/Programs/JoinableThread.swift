// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// A thread that can be kept in an array and is joined once, by the first caller.
final class JoinableThread: Sendable {
    private let thread: Mutex<NamedThread?>

    /// Starts a thread.
    ///
    /// - Throws: `SystemError` when the system has no thread left.
    init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        thread = Mutex(try NamedThread(name: name, body))
    }

    /// Waits until the thread has ended; a second call returns at once.
    func join() {
        let own = thread.withLock { $0.take() }
        own?.join()
    }
}
