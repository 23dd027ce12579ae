// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// The terminal as the thread of the signals sees it: keys to read, and a caller that waits for
/// what they can report.
struct TerminalWatch {
    /// Nil while no keys are read.
    private(set) var keys: TerminalKeys?
    /// Settled once it is known what the terminal can report.
    private var waiting: Settlement<Signals.Taken>?

    /// If there is a terminal.
    mutating func take(
        _ key: TalkKey, _ answerTime: Duration?, telling taken: Settlement<Signals.Taken>
    ) {
        guard let terminal = KeyTerminal() else {
            return taken.settle(Signals.Taken(controls: .nothing))
        }
        keys = TerminalKeys(terminal, key, answerTime)
        waiting = taken
        tell()
    }

    /// Reads keys, and handles the clock.
    mutating func step(
        isReadable: Bool, at now: ContinuousClock.Instant
    ) -> [KeyInterpreter.Meaning] {
        guard let keys else { return [] }
        // What is there to be read has come in time, however late this thread is.
        let meanings = isReadable ? keys.read(at: now) : keys.time(at: now)
        if meanings == nil { leave() }
        tell()
        return meanings ?? []
    }

    /// Puts the terminal right, and forgets it.
    mutating func leave(isInHaste: Bool = false) {
        keys?.leave(isInHaste: isInHaste)
        keys = nil
        tell()
    }

    private mutating func tell() {
        guard let waiting else { return }
        guard let keys, keys.isListening else {
            waiting.settle(Signals.Taken(controls: .nothing))
            self.waiting = nil
            return
        }
        guard let reports = keys.reports else { return }
        waiting.settle(Signals.Taken(controls: .keys(reports), killed: keys.killed))
        self.waiting = nil
    }
}
