// SPDX-License-Identifier: Apache-2.0

internal import CTerminal
internal import Glibc
internal import LinuxPlatform

/// The terminal of this process as a keyboard: its modes, questions and input.
///
/// Not standard input: so `utter | wl-copy` and `git commit -m "$(utter)"` have keys. Used by one
/// thread, with SIGTTIN and SIGTTOU blocked. Only `leave` waits for the terminal, and not long.
package final class KeyTerminal {
    /// For the terminal to answer, unless the person says otherwise.
    package static let answerTime = Duration.milliseconds(200)
    /// How many times longer the last answer is awaited: on a slow link it must not reach the
    /// shell.
    private static let lastAnswerFactor = 10

    /// Events of all keys, as escape codes, without ambiguity: 1 + 2 + 8.
    private static let keyboardFlags = 11
    private static let pasteCodes = "\u{1B}[?2004h"
    /// `CSI c`: what every terminal answers, and in order.
    private static let question = "\u{1B}[c"

    private static let areEndsWatched: Bool = {
        utter_terminal_watch_ends()
        return true
    }()

    private let descriptor: OwnedDescriptor
    private let device: TerminalDevice?
    private let hasCodes: Bool
    /// Whether the terminal may be able to report releases.
    let isWorthAsking: Bool
    /// The modes before; nil while ours are not set.
    private var before: TerminalModes?
    private(set) var answerDeadline: ContinuousClock.Instant?
    private var openQuestions = 0
    private var patienceEnd: ContinuousClock.Instant?
    private var answerTime = KeyTerminal.answerTime
    /// `reportsCodes`: keys come as escape codes.
    private var (hasAnswered, reportsCodes) = (false, false)

    /// Opens the terminal; nil when there is none.
    init?() {
        // Not blocking: a terminal that is stopped with Ctrl-S must not keep us from ending.
        let flags = O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        let number = unsafe open("/dev/tty", flags)
        guard number >= 0 else { return nil }
        descriptor = OwnedDescriptor(taking: number)
        device = TerminalDevice(of: number)
        let name = Environment["TERM"] ?? ""
        hasCodes = Environment.terminalHasCodes && !StandardError.isPlain
        // Multiplexers drop releases, whatever the terminal around them does; so does the console.
        let multiplexers = ["tmux", "screen", "linux"]
        isWorthAsking =
            hasCodes && Environment["TMUX"] == nil && Environment["STY"] == nil
            && !multiplexers.contains { name.hasPrefix($0) }
        _ = Self.areEndsWatched
    }

    /// To be polled for `POLLIN`.
    var number: Int32 { descriptor.number }

    var isInForeground: Bool { tcgetpgrp(number) == getpgrp() }

    var isTaken: Bool { before != nil }

    /// Keys of which the terminal would make signals.
    var signalKeys: SignalKeys { before?.signalKeys ?? SignalKeys() }

    /// Sets modes for keys, and drops what was typed before.
    ///
    /// `answerTime` is how long the terminal has to say if it reports releases; nil asks nothing.
    ///
    /// - Returns: the killed process whose modes were on this terminal, which is put right first;
    ///   nil for none.
    func take(answerTime: Duration?) -> Int32? {
        var killed: Int32?
        if let device, let marker = TerminalMarker.left(on: device) {
            killed = marker.process
            repair(by: marker)
        }
        guard let modes = TerminalModes(of: number) else { return killed }
        before = modes
        let marker = device.flatMap { TerminalMarker.write(modes, for: $0) }
        var settings = modes.settings
        unsafe utter_terminal_remember(
            number, &settings, hasCodes ? restoringCodes(isAsked: answerTime != nil) : "",
            marker ?? "")
        modes.forKeys.apply(to: number)
        dropInput()
        guard hasCodes else { return killed }
        write(Self.pasteCodes)
        if let answerTime {
            self.answerTime = answerTime
            ask("\u{1B}[>\(Self.keyboardFlags)u\u{1B}[?u")
            answerDeadline = .now + answerTime
        }
        return killed
    }

    /// For a terminal that reports releases: asks for focus events, and for the key of a standard
    /// keyboard.
    func askForMore() { write("\u{1B}[?1004h\u{1B}[=4;2u") }

    func dropInput() { _ = tcflush(number, TCIFLUSH) }

    func note(_ input: TerminalInput) {
        switch input {
        case .keyboardFlags(let flags): reportsCodes = reportsCodes || flags != 0
        case .deviceAttributes:
            (openQuestions, hasAnswered) = (max(0, openQuestions - 1), true)
            answerDeadline = nil
        case .key, .focus, .pasted: break
        }
    }

    private func ask(_ codes: String) {
        write(codes + Self.question)
        openQuestions += 1
        patienceEnd = .now + answerTime * Self.lastAnswerFactor
    }

    /// Sets our modes again, after another program had the terminal.
    func renew() {
        guard let before else { return }
        before.forKeys.apply(to: number)
        if hasCodes { write(Self.pasteCodes) }
    }

    /// Puts the terminal right.
    ///
    /// Waits for input that it still sends, which must not reach the shell; not at all if
    /// `isInHaste`. The decoder is where reading stopped.
    func leave(isInHaste: Bool = false, behind decoder: KeyDecoder = KeyDecoder()) {
        guard before != nil else { return }
        if !isInHaste, isInForeground { drain(decoder) }
        _ = utter_terminal_restore()
        before = nil
        answerDeadline = nil
        (openQuestions, hasAnswered, reportsCodes) = (0, false, false)
    }

    /// From any thread, at the end of this process.
    package static func putRight() { _ = utter_terminal_restore() }

    /// Reads up to the last awaited answer, and the end of a paste.
    ///
    /// Only keys for signals count in between. Words that a person types for the shell meanwhile
    /// are lost, so nothing is awaited that will not come.
    private func drain(_ decoder: KeyDecoder) {
        var decoder = decoder
        // A terminal that has not answered by now never does.
        if !hasAnswered, patienceEnd.map({ $0 <= .now }) ?? true { openQuestions = 0 }
        if reportsCodes || openQuestions > 0 {
            // Keys that move until it has read this are reported as codes, before the answer.
            let end = patienceEnd
            ask("\u{1B}[?1004l\u{1B}[=0;1u")
            if !hasAnswered { patienceEnd = end }
        }
        let end = (openQuestions > 0 ? patienceEnd : nil) ?? .now + Self.answerTime
        while openQuestions > 0 || decoder.isInPaste, waitUntilReadable(number, by: end),
            case .bytes(let bytes) = read()
        {
            for byte in bytes {
                guard let input = decoder.decode(byte) else { continue }
                note(input)
                if case .key(let event) = input { signalKeys.signal(of: event)?.send() }
            }
        }
    }

    enum Found {
        case bytes([UInt8])
        case nothing
        /// Another program has the terminal, until this process is in the foreground again.
        case inBackground
        case closed
    }

    /// Called when the descriptor is ready.
    func read() -> Found {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe Glibc.read(number, &bytes, bytes.count)
        if count > 0 { return .bytes(Array(bytes[..<count])) }
        if count == 0 { return .closed }
        switch errno {
        case EINTR, EAGAIN: return .nothing
        // A terminal that is gone answers with EIO, too.
        case EIO: return isInForeground || tcgetpgrp(number) < 0 ? .closed : .inBackground
        default: return .closed
        }
    }

    private func write(_ codes: String) {
        let bytes = Array(codes.utf8)
        // A terminal that takes nothing gets nothing.
        _ = unsafe Glibc.write(number, bytes, bytes.count)
    }

    private func restoringCodes(isAsked: Bool) -> String {
        (isAsked ? "\u{1B}[?1004l\u{1B}[<u" : "") + "\u{1B}[?2004l"
    }

    private func repair(by marker: TerminalMarker) {
        if hasCodes { write(restoringCodes(isAsked: true)) }
        // The shell may have done it: what is not as ours was is as the person wants it.
        if TerminalModes(of: number)?.areForKeys == true { marker.modes.apply(to: number) }
    }
}
