// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Testing

/// A named pipe that a program of a test holds open for as long as it lives.
package final class LifePipe: Sendable {
    package let path: String
    private let end: OwnedDescriptor

    package init(in folder: TemporaryFolder) throws {
        path = folder.path("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        end = OwnedDescriptor(taking: open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC))
        try #require(end.number >= 0)
    }

    /// Waits until a program has written to it.
    package func isUp() async -> Bool {
        await onOwnThread { [self] in
            var event = pollfd(fd: end.number, events: Int16(POLLIN), revents: 0)
            return poll(&event, 1, Duration.patience.millisecondsRoundedUp) == 1
        }
    }

    /// Waits until no process is left that could write to it.
    package func isClosed() async -> Bool {
        await onOwnThread { [self] in
            var bytes = [UInt8](repeating: 0, count: 16)
            while read(end.number, &bytes, 16) > 0 {}
            var event = pollfd(fd: end.number, events: Int16(POLLIN), revents: 0)
            return poll(&event, 1, Duration.patience.millisecondsRoundedUp) == 1
                && event.revents & Int16(POLLHUP) != 0
        }
    }
}
