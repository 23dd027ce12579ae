// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// The keys of the terminal of this process, while it is in the foreground.
///
/// Used by the thread of the signals.
final class TerminalKeys {
    /// How often a program in the background looks whether it has the keyboard again, while a
    /// person types.
    private static let foregroundInterval = Duration.milliseconds(250)

    private let terminal: KeyTerminal
    private var decoder = KeyDecoder()
    private var interpreter: KeyInterpreter
    private var lastByte = ContinuousClock.now
    /// No keys reach this process.
    private(set) var isInBackground: Bool
    /// To another program of ours.
    private var isLent = false
    private(set) var killed: Int32?

    /// Takes the terminal, at once or when this process is in the foreground again.
    ///
    /// `answerTime` is how long it has to say if it reports releases; nil asks nothing.
    init(_ terminal: KeyTerminal, _ key: TalkKey, _ answerTime: Duration?) {
        self.terminal = terminal
        isInBackground = !terminal.isInForeground
        if !isInBackground {
            killed = terminal.take(answerTime: terminal.isWorthAsking ? answerTime : nil)
        }
        interpreter = KeyInterpreter(key, answerBy: terminal.answerDeadline, at: .now)
        interpreter.signalKeys = terminal.signalKeys
    }

    /// To be polled for `POLLIN`; -1 while another program has the terminal.
    var descriptor: Int32 { isInBackground ? -1 : terminal.number }

    /// The terminal's reports; nil until they are known.
    var reports: KeyInterpreter.Reports? { interpreter.reports }

    /// When to call `time`; nil when nothing waits for the clock.
    func deadline(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        if isLent { return nil }
        if isInBackground { return now + Self.foregroundInterval }
        return [interpreter.deadline, decoder.patience.map { lastByte + $0 }]
            .compactMap(\.self).min()
    }

    /// Called when no byte is there.
    func time(at now: ContinuousClock.Instant) -> [KeyInterpreter.Meaning] {
        if isInBackground {
            comeBack()
            return []
        }
        let input = decoder.idle(for: now - lastByte)
        return input.map { meanings(of: $0, at: now) } ?? note(interpreter.time(at: now))
    }

    /// Called when the descriptor is ready.
    ///
    /// - Returns: the keys' meanings; nil at the end of the input.
    func read(at now: ContinuousClock.Instant) -> [KeyInterpreter.Meaning]? {
        switch terminal.read() {
        case .nothing: return []
        case .closed: return nil
        case .inBackground:
            terminal.leave(isInHaste: true)
            isInBackground = true
            return []
        case .bytes(let bytes):
            lastByte = now
            return bytes.flatMap { byte in
                decoder.decode(byte).map { meanings(of: $0, at: now) } ?? []
            }
        }
    }

    private func meanings(
        of input: TerminalInput, at now: ContinuousClock.Instant
    ) -> [KeyInterpreter.Meaning] {
        terminal.note(input)
        return note(interpreter.handle(input, at: now))
    }

    private var wasReporting = false

    private func note(_ meanings: [KeyInterpreter.Meaning]) -> [KeyInterpreter.Meaning] {
        if !wasReporting, reports == .releases {
            wasReporting = true
            terminal.askForMore()
        }
        return meanings
    }

    func leave(isInHaste: Bool = false) {
        terminal.leave(isInHaste: isInHaste, behind: decoder)
    }

    /// Puts the terminal right for another program, and drops what was typed before.
    func lend() {
        guard !isInBackground else { return }
        (isInBackground, isLent) = (true, true)
        terminal.leave(behind: decoder)
        terminal.dropInput()
    }

    /// Takes the terminal back; keys that were typed meanwhile are dropped.
    func takeBack() {
        guard isLent else { return }
        isLent = false
        comeBack()
    }

    func goOn() {
        guard terminal.isTaken else { return comeBack() }
        if terminal.isInForeground { return terminal.renew() }
        terminal.leave(isInHaste: true)
        isInBackground = true
    }

    private func comeBack() {
        isInBackground = isLent || !terminal.isInForeground
        guard !isInBackground else { return }
        decoder = KeyDecoder()
        _ = terminal.take(answerTime: reports == .releases ? KeyTerminal.answerTime : nil)
        interpreter.signalKeys = terminal.signalKeys
        if reports == .releases { terminal.askForMore() }
    }
}

/// The terminal as the thread of the signals sees it: keys to read, and a caller that waits for
/// what they can report.
struct TerminalWatch {
    /// The keys; nil while none are read.
    private(set) var keys: TerminalKeys?
    /// Settled once it is known what the terminal can report.
    private var waiting: Settlement<Signals.Taken>?

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

    mutating func step(
        isReadable: Bool, at now: ContinuousClock.Instant
    ) -> [KeyInterpreter.Meaning] {
        guard let keys else { return [] }
        // Bytes that can be read have come in time, however late this thread is.
        let meanings = isReadable ? keys.read(at: now) : keys.time(at: now)
        if meanings == nil { leave() }
        tell()
        return meanings ?? []
    }

    mutating func leave(isInHaste: Bool = false) {
        keys?.leave(isInHaste: isInHaste)
        keys = nil
        tell()
    }

    private mutating func tell() {
        if let keys, !keys.isInBackground {
            guard let reports = keys.reports else { return }
            waiting?.settle(Signals.Taken(controls: .keys(reports), killed: keys.killed))
        } else {
            waiting?.settle(Signals.Taken(controls: .nothing))
        }
        waiting = nil
    }
}
