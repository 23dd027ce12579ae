// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// The terminal of this process while it is in the foreground, to be lent to a program that it
/// runs in a process group of its own.
///
/// Such a program could neither ask the person nor be ended with Ctrl-C otherwise.
package final class ForegroundTerminal {
    private let descriptor: OwnedDescriptor

    /// The terminal's descriptor, for the caller that makes it another group's.
    package var number: Int32 { descriptor.number }

    /// Opens the terminal; nil when there is none, or when it is another program's now.
    package static func ours() -> ForegroundTerminal? {
        let number = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { return nil }
        let descriptor = OwnedDescriptor(taking: number)
        guard tcgetpgrp(number) == getpgrp() else { return nil }
        return ForegroundTerminal(descriptor: descriptor)
    }

    private init(descriptor: consuming OwnedDescriptor) {
        self.descriptor = descriptor
    }

    package func takeBack() {
        // A process that does this from the background is stopped by it.
        var stop = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&stop)
        unsafe sigaddset(&stop, SIGTTOU)
        unsafe pthread_sigmask(SIG_BLOCK, &stop, &before)
        _ = tcsetpgrp(number, getpgrp())
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
