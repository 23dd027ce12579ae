// SPDX-License-Identifier: Apache-2.0

internal import CTerminal
internal import Glibc
internal import LinuxPlatform

/// The terminal that controls this process, as a keyboard: its modes, what it is asked and what it
/// sends.
///
/// Not standard input: so `utter | wl-copy` and `git commit -m "$(utter)"` have keys. Belongs to one
/// thread, with SIGTTIN and SIGTTOU blocked. Nothing here waits for the terminal but `leave`, and
/// that not long.
package final class KeyTerminal {
    /// How long a terminal has to answer, unless the person says otherwise.
    package static let answerTime = Duration.milliseconds(200)
    /// So many times as long the last answer is waited for: a slow link must not bring it to the
    /// shell.
    private static let lastAnswerFactor = 10

    /// Events of keys, all of them as escape codes, without ambiguity: 1 + 2 + 8.
    private static let keyboardFlags = 11
    private static let pasteCodes = "\u{1B}[?2004h"
    /// `CSI c`: what every terminal answers, and in order.
    private static let question = "\u{1B}[c"

    /// Registers what happens at the ends of this process, once.
    private static let areEndsWatched: Bool = {
        utter_terminal_watch_ends()
        return true
    }()

    private let descriptor: OwnedDescriptor
    private let device: TerminalDevice?
    private let hasCodes: Bool
    /// Whether it may be able to report releases.
    let isWorthAsking: Bool
    /// How it was before; nil while it is in modes that are not ours.
    private var before: TerminalModes?
    /// Until when an answer may come that is awaited.
    private(set) var answerDeadline: ContinuousClock.Instant?
    /// How many questions it has not answered, and until when it is expected to.
    private var openQuestions = 0
    private var patienceEnd: ContinuousClock.Instant?
    private var answerTime = KeyTerminal.answerTime
    /// Whether it has answered, and whether it reports keys as codes.
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

    /// What to poll for `POLLIN`.
    var number: Int32 { descriptor.number }

    /// Whether keys reach this process now.
    var isInForeground: Bool { tcgetpgrp(number) == getpgrp() }

    var isTaken: Bool { before != nil }

    /// The keys of which it would make signals now.
    var signalKeys: SignalKeys { before?.signalKeys ?? SignalKeys() }

    /// Puts the terminal into modes for keys, and drops what was typed before.
    ///
    /// - Parameter answerTime: how long it has to say if it reports releases, with what is read; nil
    ///   asks nothing.
    /// - Returns: the process that was killed and had left this terminal in its modes; it is put right
    ///   first. Nil for none.
    func take(answerTime: Duration?) -> Int32? {
        let isAsked = answerTime != nil
        var killed: Int32?
        if let device, let marker = TerminalMarker.left(on: device) {
            killed = marker.process
            repair(by: marker)
        }
        guard let modes = TerminalModes(of: number) else { return killed }
        before = modes
        let marker = device.flatMap {
            TerminalMarker(terminal: $0, modes: modes).write(for: $0)
        }
        var settings = modes.settings
        unsafe utter_terminal_remember(
            number, &settings, hasCodes ? restoringCodes(isAsked: isAsked) : "",
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

    /// Asks a terminal that reports releases for two things more: that it tells when another window
    /// gets the keyboard, and which key of a standard keyboard one is.
    func askForMore() {
        write("\u{1B}[?1004h\u{1B}[=4;2u")
    }

    /// Forgets what was typed and not read.
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

    /// Puts modes of ours in place once more: another program had the terminal meanwhile.
    func renew() {
        guard let before else { return }
        before.forKeys.apply(to: number)
        if hasCodes { write(Self.pasteCodes) }
    }

    /// Puts the terminal right.
    ///
    /// What it still sends for keys and questions must not reach the shell, so it is waited for; but
    /// not at all when the process `isInHaste`. The decoder is where what was read ends.
    func leave(isInHaste: Bool = false, behind decoder: KeyDecoder = KeyDecoder()) {
        guard before != nil else { return }
        if !isInHaste, isInForeground { drain(decoder) }
        _ = utter_terminal_restore()
        before = nil
        answerDeadline = nil
        (openQuestions, hasAnswered, reportsCodes) = (0, false, false)
    }

    /// Puts the terminal right, whatever thread listens to it: this process ends now.
    package static func putRight() { _ = utter_terminal_restore() }

    /// Reads until the last answer that is still to come, and the end of a paste.
    ///
    /// Of the keys in between those count that ask for a signal. What a person types meanwhile for
    /// the shell is lost, so that nothing is waited for that will not come.
    private func drain(_ decoder: KeyDecoder) {
        var decoder = decoder
        // One that has not answered by now never does.
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

    /// What one read found.
    enum Found: Equatable {
        case bytes([UInt8])
        case nothing
        /// What is typed is another program's, until this process is in the foreground again.
        case inBackground
        /// There will never be anything more.
        case closed
    }

    /// Reads what is there; called when the descriptor is ready.
    func read() -> Found {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe Glibc.read(number, &bytes, bytes.count)
        if count > 0 { return .bytes(Array(bytes[..<count])) }
        if count == 0 { return .closed }
        switch errno {
        case EINTR, EAGAIN: return .nothing
        // Of a terminal that is gone, too.
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

    /// Puts the terminal right that a killed process has left.
    private func repair(by marker: TerminalMarker) {
        if hasCodes { write(restoringCodes(isAsked: true)) }
        // The shell may have done it: what is not as ours was is as the person wants it.
        if TerminalModes(of: number)?.areForKeys == true { marker.modes.apply(to: number) }
    }
}
