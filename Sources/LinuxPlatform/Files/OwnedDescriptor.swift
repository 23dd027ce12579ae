// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file descriptor with one owner, closed when the owner goes.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// The descriptor's number; valid for as long as this value lives.
    package let number: Int32

    package init(taking number: Int32) {
        self.number = number
    }

    /// Opens the same file once more, for another owner.
    package func duplicate() throws(SystemError) -> OwnedDescriptor {
        OwnedDescriptor(
            taking: try retryingInterrupts("dup") { fcntl(number, F_DUPFD_CLOEXEC, 0) })
    }

    deinit {
        // An error of close(2) leaves nothing to be done: the descriptor is gone either way.
        _ = close(number)
    }
}
