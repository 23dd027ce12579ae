// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// The keys of the terminal that controls this process, while it is in the foreground.
///
/// Belongs to the thread of the signals.
final class TerminalKeys {
    /// How often a program in the background looks whether the keyboard is its own again; only while
    /// a person types.
    private static let foregroundInterval = Duration.milliseconds(250)

    private let terminal: KeyTerminal
    private var decoder = KeyDecoder()
    private var interpreter: KeyInterpreter
    private var lastByte = ContinuousClock.now
    private var isInBackground = false
    /// Whether another program of ours has the terminal.
    private var isLent = false
    /// The process that was killed and had left the terminal in its modes; nil for none.
    private(set) var killed: Int32?

    /// Takes the terminal, at once or when it is ours again.
    ///
    /// - Parameters:
    ///   - terminal: the terminal.
    ///   - key: the key by which a person talks.
    ///   - answerTime: how long it has to say if it reports releases; nil asks nothing.
    init(_ terminal: KeyTerminal, _ key: TalkKey, _ answerTime: Duration?) {
        self.terminal = terminal
        isInBackground = !terminal.isInForeground
        if !isInBackground {
            killed = terminal.take(answerTime: terminal.isWorthAsking ? answerTime : nil)
        }
        interpreter = KeyInterpreter(key, answerBy: terminal.answerDeadline, at: .now)
        interpreter.signalKeys = terminal.signalKeys
    }

    /// What to poll for `POLLIN`; -1 while what is typed is another program's.
    var descriptor: Int32 { isInBackground ? -1 : terminal.number }

    /// Whether keys reach this process now.
    var isListening: Bool { !isInBackground }

    /// What the terminal can report; nil until it is known.
    var reports: KeyInterpreter.Reports? { interpreter.reports }

    /// When `time` is to be called; nil when nothing waits for the clock.
    func deadline(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        if isLent { return nil }
        if isInBackground { return now + Self.foregroundInterval }
        return [interpreter.deadline, decoder.patience.map { lastByte + $0 }]
            .compactMap(\.self).min()
    }

    /// Says what the time has made of keys; called when no byte is there.
    func time(at now: ContinuousClock.Instant) -> [KeyInterpreter.Meaning] {
        if isInBackground {
            comeBack()
            return []
        }
        let input = decoder.idle(for: now - lastByte)
        return input.map { meanings(of: $0, at: now) } ?? note(interpreter.time(at: now))
    }

    /// Reads what is there; called when the descriptor is ready.
    ///
    /// - Returns: what it means; nil when there will never be anything more.
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

    /// Puts the terminal right, before another program has it.
    func leave(isInHaste: Bool = false) {
        terminal.leave(isInHaste: isInHaste, behind: decoder)
    }

    /// Puts the terminal right for another program, and drops what was typed before it asks.
    func lend() {
        guard !isInBackground else { return }
        (isInBackground, isLent) = (true, true)
        terminal.leave(behind: decoder)
        terminal.dropInput()
    }

    /// Listens again; what was typed meanwhile is dropped.
    func takeBack() {
        guard isLent else { return }
        isLent = false
        comeBack()
    }

    /// Goes on after a stop, in the foreground or not.
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
