// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// Reads keys one after the other, for a command that has the whole terminal.
///
/// Used by one thread, which waits in it.
package final class KeyReader {
    package enum Key: Equatable, Sendable {
        case character(Character)
        case up, down, pageUp, pageDown, first, last, enter, escape, backspace
        /// Ctrl-C or Ctrl-D, or a terminal that is gone.
        case end
    }

    private let terminal: KeyTerminal
    private var decoder = KeyDecoder()
    private var keys: [Key] = []

    /// Has keys reach the program at once; nil without a terminal.
    package init?() {
        guard let terminal = KeyTerminal() else { return nil }
        self.terminal = terminal
        take()
    }

    package func take() { _ = terminal.take(answerTime: nil) }

    /// Puts the terminal right, for another program or at the end.
    package func leave() {
        terminal.leave(behind: decoder)
        (decoder, keys) = (KeyDecoder(), [])
    }

    /// The next key; nil when none came in this time.
    package func next(within time: Duration) -> Key? {
        let end = ContinuousClock.now + time
        while keys.isEmpty {
            let pause = decoder.patience ?? time
            guard waitUntilReadable(terminal.number, by: min(end, .now + pause)) else {
                if let input = decoder.idle(for: pause), let key = Self.key(of: input) {
                    return key
                }
                if ContinuousClock.now >= end { return nil }
                continue
            }
            switch terminal.read() {
            case .bytes(let bytes):
                keys += bytes.compactMap { decoder.decode($0).flatMap(Self.key) }
            case .nothing: continue
            case .inBackground: return nil
            case .closed: return .end
            }
        }
        return keys.removeFirst()
    }

    private static func key(of input: TerminalInput) -> Key? {
        guard case .key(let event) = input, event.kind != .release else { return nil }
        if event.isControl("c") || event.isControl("d") { return .end }
        switch event.key {
        case .up: return .up
        case .down: return .down
        case .pageUp: return .pageUp
        case .pageDown: return .pageDown
        case .home: return .first
        case .end: return .last
        case .enter, .keypadEnter: return .enter
        case .escape: return .escape
        case .backspace: return .backspace
        default:
            // Keys without a character have numbers of the private use area, or of control characters.
            guard event.modifiers.command.isEmpty, event.key.number >= 0x20,
                !(0xE000...0xF8FF).contains(event.key.number),
                let scalar = Unicode.Scalar(event.key.number)
            else { return nil }
            return .character(Character(scalar))
        }
    }
}
