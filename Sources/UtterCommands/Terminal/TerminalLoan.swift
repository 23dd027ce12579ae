// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
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
    init(from signals: Signals?) throws(SystemError) {
        self.signals = signals
        cancelled = try Wakeup()
    }

    /// Ends the waits of the program's thread; from any thread.
    func cancel() { cancelled.signal() }

    /// Waits until the program has printed something, or ended.
    ///
    /// - Returns: false when it has not until `deadline`, or when its answer is not wanted any more.
    func wait(for descriptor: Int32, by deadline: ContinuousClock.Instant) -> Bool {
        while true {
            let left = (deadline - .now) / .milliseconds(1)
            guard left > 0 else { return false }
            var events = [descriptor, cancelled.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard unsafe poll(&events, 2, Int32(min(left, 1e9)) + 1) > 0 else { continue }
            return events[1].revents == 0
        }
    }

    /// Takes the terminal from the take, and tells the person that it goes on.
    func begin() {
        hasBegun.store(true, ordering: .relaxed)
        signals?.lendKeys()
        Self.isLent.withLock { isLent in
            isLent = true
            guard StandardError.isTerminal else { return }
            StandardError.write(LiveText.erasure())
            StandardError.line("the recording goes on while the command asks for the token")
        }
    }

    /// Gives the terminal back.
    func end() {
        guard hasBegun.exchange(false, ordering: .relaxed) else { return }
        Self.isLent.withLock { $0 = false }
        signals?.takeKeysBack()
    }
}
