// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where Enter comes from: standard input when it is a terminal or a pipe, otherwise the
/// terminal that controls this process.
///
/// What is typed while this process is in the background is the shell's; after `fg` it is ours.
/// So `utter | wl-copy` and `git commit -m "$(utter)"` listen to the keyboard, and a key
/// binding without a terminal listens to nothing. A file or /dev/null on standard input is not
/// read: it belongs to another program's loop.
struct Keyboard: Sendable {
    let descriptor: Int32

    init?() {
        var status = stat()
        let isKnown = unsafe fstat(STDIN_FILENO, &status) == 0
        if isatty(STDIN_FILENO) == 1 {
            descriptor = STDIN_FILENO
        } else if isKnown && status.st_mode & S_IFMT == S_IFIFO {
            descriptor = STDIN_FILENO
        } else {
            let terminal = unsafe open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY)
            guard terminal >= 0 else { return nil }
            descriptor = terminal
        }
    }

    /// Whether a person types there; a pipe is written to by a program.
    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Whether Enter would reach this process now; a pipe always does.
    var isInForeground: Bool {
        !isTerminal || tcgetpgrp(descriptor) == getpgrp()
    }

    /// Drops what was typed before there was a recording to end; a pipe keeps its lines.
    func forgetWhatWasTyped() {
        // From the background it would be the shell's, and tcflush would stop this process.
        guard isTerminal, isInForeground else { return }
        _ = tcflush(descriptor, TCIFLUSH)
    }

    /// Whether what is typed appears on the screen.
    var isEchoing: Bool {
        var settings = termios()
        return unsafe tcgetattr(descriptor, &settings) == 0 && settings.c_lflag & UInt32(ECHO) != 0
    }

    /// What one read found.
    enum Found {
        case line(String)
        case nothing
        /// Ctrl-D on a terminal, which ends a recording as Enter does.
        case end
        /// What is typed is the shell's, until this process is in the foreground again.
        case inBackground
        /// There will never be anything more.
        case closed
    }

    /// Reads what is there; called when the descriptor is ready.
    ///
    /// Called with SIGTTIN blocked: otherwise a read from the background would stop the process.
    func read() -> Found {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        // EIO is a read from the background: `fg` may follow.
        if count < 0 && errno == EIO { return .inBackground }
        if count < 0 { return errno == EINTR || errno == EAGAIN ? .nothing : .closed }
        if count == 0 { return isatty(descriptor) == 1 ? .end : .closed }
        guard let end = bytes[..<count].firstIndex(of: 0x0A) else {
            // A terminal gives half a line only when Ctrl-D was pressed behind it.
            return isatty(descriptor) == 1 ? .end : .nothing
        }
        return .line(String(decoding: bytes[..<end], as: UTF8.self))
    }
}
