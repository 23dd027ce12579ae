// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The meaning of keys.
///
/// Pure: times are given. On a terminal that reports releases the talk key is held; on others it,
/// or Enter, is pressed once to begin and once to end. The terminal's answer tells which it is, or
/// its silence. Keys typed before that are ignored.
package struct KeyInterpreter {
    package enum Reports: Equatable, Sendable {
        /// Repeats look like presses.
        case presses
        case releases
    }

    package enum Meaning: Equatable, Sendable {
        case down
        case up
        /// The key that begins and ends a recording.
        case press
        /// Enter: ends the recording, where the talk key is held.
        case finish
        /// Escape: drops the newest take.
        case dismiss
        /// Ctrl-D: no more takes.
        case end
        /// The letter q: no more takes, unless a recording runs.
        case quit
        /// The letter p: the recording pauses, or goes on.
        case pause
        /// The release of the talk key may not be reported.
        case focusLost
        /// Ctrl-C, Ctrl-\ or Ctrl-Z, of which the terminal makes no signals meanwhile.
        case signal(SignalKeys.Signal)
    }

    private let chosen: TalkKey
    /// The terminal's reports; nil until they are known.
    private(set) var reports: Reports?
    private var filter: RepeatFilter
    /// Releases are reported, also if that became known too late to count.
    private var seesReleases = false
    private var answerDeadline: ContinuousClock.Instant?
    /// Keys of which the terminal would make signals.
    var signalKeys = SignalKeys()

    /// `answerDeadline`: when a terminal that was asked has not answered; nil for one that was not.
    ///
    /// The Enter that began this program may still be down.
    init(
        _ key: TalkKey, answerBy answerDeadline: ContinuousClock.Instant?,
        at now: ContinuousClock.Instant
    ) {
        chosen = key
        self.answerDeadline = answerDeadline
        reports = answerDeadline == nil ? .presses : nil
        filter = RepeatFilter(held: .enter, at: now)
    }

    /// The chosen key, or Space where that one is not reported.
    private var key: TalkKey { reports == .presses && !chosen.hasBytes ? .space : chosen }

    /// When to call `time`; nil when nothing waits for the clock.
    var deadline: ContinuousClock.Instant? {
        [answerDeadline, filter.deadline].compactMap(\.self).min()
    }

    mutating func time(at now: ContinuousClock.Instant) -> [Meaning] {
        if let deadline = answerDeadline, now >= deadline { decide() }
        return filter.due(at: now) == nil ? [] : [.press]
    }

    mutating func handle(
        _ input: TerminalInput, at now: ContinuousClock.Instant
    ) -> [Meaning] {
        var meanings = time(at: now)
        switch input {
        // Events, and those for keys that write text.
        case .keyboardFlags(let flags): seesReleases = flags & 10 == 10
        case .deviceAttributes: if answerDeadline != nil { decide() }
        case .focus(let isHere): if !isHere, reports == .releases { meanings.append(.focusLost) }
        case .pasted: break
        case .key(let event):
            if let meaning = meaning(of: event, at: now) { meanings.append(meaning) }
        }
        return meanings
    }

    private mutating func decide() {
        answerDeadline = nil
        reports = seesReleases ? .releases : .presses
    }

    private mutating func meaning(
        of event: KeyEvent, at now: ContinuousClock.Instant
    ) -> Meaning? {
        guard event.kind != .repetition else { return nil }
        if let signal = signalKeys.signal(of: event) { return .signal(signal) }
        guard let reports else { return nil }
        if event.kind == .release {
            filter.release(event.key)
            return reports == .releases && key.isMeant(by: event) ? .up : nil
        }
        let isEnter = event.modifiers.command.isEmpty && [.enter, .keypadEnter].contains(event.key)
        if key.isMeant(by: event) || isEnter {
            guard reports == .presses else { return key.isMeant(by: event) ? .down : .finish }
            if seesReleases { return .press }
            return filter.press(event.key, at: now) == .press ? .press : nil
        }
        if event.key == .escape, event.modifiers.command.isEmpty { return .dismiss }
        if event.isControl("d") { return .end }
        guard event.modifiers.command.isEmpty else { return nil }
        if event.isOf(KeyCode("q")) { return .quit }
        guard event.isOf(KeyCode("p")) else { return nil }
        return seesReleases || filter.press(event.key, at: now) == .press ? .pause : nil
    }
}

/// The keys for which a terminal sends signals: by default Ctrl-C, Ctrl-\ and Ctrl-Z (`stty(1)`).
///
/// While its keys are read, the terminal sends no signals itself: it would send one for a pasted
/// byte, too.
package struct SignalKeys: Sendable {
    package enum Signal: Equatable, Sendable {
        case interrupt, quit, suspend

        /// To every program of the pipeline, as the terminal does.
        func send() {
            switch self {
            case .interrupt: kill(0, SIGINT)
            case .quit: kill(0, SIGQUIT)
            case .suspend: kill(0, SIGTSTP)
            }
        }
    }

    private let keys: [(key: KeyEvent, signal: Signal)]

    /// 0 is not a key (`_POSIX_VDISABLE`).
    init(interrupt: UInt8 = 0x03, quit: UInt8 = 0x1C, suspend: UInt8 = 0x1A) {
        keys = [(interrupt, Signal.interrupt), (quit, .quit), (suspend, .suspend)]
            .filter { $0.0 != 0 }.map { (KeyDecoder.event($0.0), $0.1) }
    }

    func signal(of event: KeyEvent) -> Signal? {
        guard event.kind == .press else { return nil }
        return keys.first {
            event.isOf($0.key.key) && event.modifiers.command == $0.key.modifiers.command
        }?.signal
    }
}
