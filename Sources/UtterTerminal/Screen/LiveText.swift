// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// The codes (ECMA-48, DEC private modes) that draw lines over themselves.
///
/// The cursor rests at the first column of the first line. A terminal that is made narrower and
/// wraps the lines keeps it there, and one that cuts them does too; so clearing from the cursor to
/// the end of the screen erases all pieces, however many rows they have become, and nothing above.
package enum LiveText {
    package static func erasure() -> String { "\r\u{1B}[J" }

    /// At most as many lines as the window has rows.
    ///
    /// Nothing is cleared first, so that nothing flickers. Automatic wrapping is off: the terminal
    /// may have become narrower.
    static func drawing(_ lines: [String]) -> String {
        "\r\u{1B}[?7l" + lines.joined(separator: "\u{1B}[K\r\n")
            + "\u{1B}[J\u{1B}[?7h" + up(lines.count - 1) + "\r"
    }

    private static func up(_ count: Int) -> String { count > 0 ? "\u{1B}[\(count)A" : "" }
}

/// Of standard error's terminal.
package struct WindowSize: Equatable {
    /// At least 1 each.
    var columns: Int
    var rows: Int

    /// 80 by 24 when it is not known.
    static var current: WindowSize {
        WindowSize(columns: StandardError.columns, rows: terminalRows(STDERR_FILENO) ?? 24)
    }

    /// Makes changes of the size wait for the drawing thread (`SIGWINCH`).
    ///
    /// Called before any thread is started.
    package static func listen() {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe sigaddset(&mask, SIGWINCH)
        _ = unsafe pthread_sigmask(SIG_BLOCK, &mask, nil)
    }
}
