// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// The terminal in the hands of a program that asks the person for a secret, while a take records.
///
/// No keys are read and nothing is drawn meanwhile. A key that is held counts as latched, and what is
/// typed on either side of the loan reaches neither. Signals and the control socket work as ever.
package final class TerminalLoan: Sendable {
    /// Whether any program has it.
    private static let isLent = Mutex(false)

    /// Draws, unless a program has the terminal.
    static func unlessLent(_ draw: () -> Void) {
        isLent.withLock { if !$0 { draw() } }
    }

    private let signals: Signals?
    /// Ends every wait: the answer is not wanted any more.
    private let cancelled: Wakeup
    private let hasBegun = Atomic(false)

    /// Prepares to lend the terminal; `signals` reads its keys, if anything does.
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

    /// Takes the terminal from the take, and tells the person that it goes on.
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

    /// Gives the terminal back.
    package func end() {
        guard hasBegun.exchange(false, ordering: .relaxed) else { return }
        Self.isLent.withLock { $0 = false }
        signals?.takeKeysBack()
    }
}
