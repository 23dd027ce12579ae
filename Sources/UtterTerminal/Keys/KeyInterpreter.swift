// SPDX-License-Identifier: Apache-2.0

/// Says what keys mean.
///
/// Pure: times are given. On a terminal that reports releases the talk key is held; on others it, or
/// Enter, is pressed once to begin and once to end. Which of both a terminal is, its answer tells, or
/// that there is none. What was typed before that is not meant.
package struct KeyInterpreter {
    package enum Reports: Equatable, Sendable {
        /// Presses, and repeats that look like them.
        case presses
        /// Presses, repeats and releases.
        case releases
    }

    package enum Meaning: Equatable, Sendable {
        case down
        case up
        /// A key that begins and ends was pressed.
        case press
        /// Enter: the recording is over, where the talk key is held.
        case finish
        /// Escape: the newest take is not wanted.
        case dismiss
        /// Ctrl-D: there is nothing more to say.
        case end
        /// The letter q: there is nothing more to say, unless a recording runs.
        case quit
        /// The talk key may go up without a word.
        case focusLost
        /// Ctrl-C, Ctrl-\ or Ctrl-Z: the terminal makes no signals meanwhile.
        case signal(SignalKeys.Signal)
    }

    private let chosen: TalkKey
    /// What the terminal can report; nil until it is known.
    private(set) var reports: Reports?
    private var filter: RepeatFilter
    /// Whether releases are reported, also if that became known too late to count.
    private var seesReleases = false
    private var answerDeadline: ContinuousClock.Instant?
    /// The keys that the terminal would make signals of.
    var signalKeys = SignalKeys()

    /// Begins.
    ///
    /// - Parameters:
    ///   - key: the key by which a person talks.
    ///   - answerDeadline: when a terminal that was asked has not answered; nil for one that was not.
    ///   - now: the time; Enter may be down still, which has begun this program.
    init(
        _ key: TalkKey, answerBy answerDeadline: ContinuousClock.Instant?,
        at now: ContinuousClock.Instant
    ) {
        chosen = key
        self.answerDeadline = answerDeadline
        reports = answerDeadline == nil ? .presses : nil
        filter = RepeatFilter(held: .enter, at: now)
    }

    /// The key that counts: where the chosen one is not reported, Space.
    private var key: TalkKey { reports == .presses && !chosen.hasBytes ? .space : chosen }

    /// When `time` is to be called; nil when nothing waits for the clock.
    var deadline: ContinuousClock.Instant? {
        [answerDeadline, filter.deadline].compactMap(\.self).min()
    }

    /// Says what the time has made of keys and answers.
    mutating func time(at now: ContinuousClock.Instant) -> [Meaning] {
        if let deadline = answerDeadline, now >= deadline { decide() }
        return filter.due(at: now) == nil ? [] : [.press]
    }

    /// Says what something means that the terminal has sent.
    mutating func handle(
        _ input: TerminalInput, at now: ContinuousClock.Instant
    ) -> [Meaning] {
        let due = time(at: now)
        switch input {
        case .keyboardFlags(let flags):
            // Events, and those for keys that write text.
            seesReleases = flags & 10 == 10
            return due
        case .deviceAttributes:
            if answerDeadline != nil { decide() }
            return due
        case .focus(let isHere): return due + (isHere || reports != .releases ? [] : [.focusLost])
        case .pasted: return due
        case .key(let event): return due + (meaning(of: event, at: now).map { [$0] } ?? [])
        }
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
        return event.isOf(KeyCode("q")) && event.modifiers.command.isEmpty ? .quit : nil
    }
}
