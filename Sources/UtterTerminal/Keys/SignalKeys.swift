// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The keys for which a terminal sends signals: Ctrl-C, Ctrl-\ and Ctrl-Z, unless the person has
/// chosen others (`stty(1)`).
///
/// The terminal makes none of its own while its keys are listened to: it would make one of a byte
/// that is pasted, too.
package struct SignalKeys: Sendable {
    package enum Signal: Equatable, Sendable {
        case interrupt, quit, suspend

        /// Sends it as the terminal would: every program of the pipeline gets it.
        func send() {
            switch self {
            case .interrupt: kill(0, SIGINT)
            case .quit: kill(0, SIGQUIT)
            case .suspend: kill(0, SIGTSTP)
            }
        }
    }

    private let keys: [(key: KeyEvent, signal: Signal)]

    /// The keys that send these bytes; 0 is none (`_POSIX_VDISABLE`).
    init(interrupt: UInt8 = 0x03, quit: UInt8 = 0x1C, suspend: UInt8 = 0x1A) {
        keys = [(interrupt, Signal.interrupt), (quit, .quit), (suspend, .suspend)]
            .filter { $0.0 != 0 }.map { (KeyDecoder.event($0.0), $0.1) }
    }

    /// The signal that the press of a key asks for; nil for none.
    func signal(of event: KeyEvent) -> Signal? {
        guard event.kind == .press else { return nil }
        return keys.first {
            event.isOf($0.key.key) && event.modifiers.command == $0.key.modifiers.command
        }?.signal
    }
}
