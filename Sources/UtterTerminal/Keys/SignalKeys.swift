// SPDX-License-Identifier: Apache-2.0

internal import Glibc

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

    /// 0 is no key (`_POSIX_VDISABLE`).
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
