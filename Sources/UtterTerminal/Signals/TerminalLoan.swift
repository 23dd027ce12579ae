// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// Lends the terminal to a program that asks the person for a secret, while a take records.
///
/// No keys are read and nothing is drawn meanwhile. A held key counts as latched; what is typed
/// before and after is dropped. Signals and the control socket work as ever.
package final class TerminalLoan: Sendable {
    private static let isLent = Mutex(false)

    /// `body` draws, while no loan begins or ends.
    static func draw(_ body: (_ isLent: Bool) -> Void) { isLent.withLock { body($0) } }

    private let signals: Signals?
    private let cancelled: Wakeup
    private let hasBegun = Atomic(false)

    /// `signals` reads the terminal's keys, if anything does.
    ///
    /// - Throws: `SystemError` when the process has no descriptor left.
    package init(from signals: Signals?) throws(SystemError) {
        self.signals = signals
        cancelled = try Wakeup()
    }

    /// Readable once the secret is not wanted any more.
    package var cancellation: Int32 { cancelled.descriptor }

    package var isCancelled: Bool { WorkerPause.until(.now).wait(for: cancelled.descriptor) }

    /// Ends the waits for the program; from any thread.
    package func cancel() { cancelled.signal() }

    /// Takes the terminal from the take, and tells the person that the take goes on.
    package func begin() {
        hasBegun.store(true, ordering: .relaxed)
        signals?.lendKeys()
        Self.isLent.withLock { isLent in
            isLent = true
            guard StandardError.isTerminal else { return }
            StandardError.write(LiveText.erasure())
            StandardError.line("the recording goes on while the command asks for a secret")
        }
    }

    package func end() {
        guard hasBegun.exchange(false, ordering: .relaxed) else { return }
        Self.isLent.withLock { $0 = false }
        signals?.takeKeysBack()
    }
}

/// The terminal of this process in the foreground, to be lent to a program in a process group of
/// its own.
///
/// Such a program could otherwise neither ask the person nor be ended with Ctrl-C.
package final class ForegroundTerminal {
    private let descriptor: OwnedDescriptor

    /// For the caller that gives it to another group.
    package var number: Int32 { descriptor.number }

    /// Borrows the terminal; nil when there is none, or another program has it.
    package init?() {
        let number = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { return nil }
        descriptor = OwnedDescriptor(taking: number)
        guard tcgetpgrp(number) == getpgrp() else { return nil }
    }

    package func takeBack() {
        // A process that does this from the background is stopped by it.
        let before = SignalMask.change(SIG_BLOCK, [SIGTTOU])
        _ = tcsetpgrp(number, getpgrp())
        before.restore()
    }
}
