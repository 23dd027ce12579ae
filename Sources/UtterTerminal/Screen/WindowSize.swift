// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// How large the terminal is on which standard error is shown.
package struct WindowSize: Equatable {
    /// At least one, each.
    var columns: Int
    var rows: Int

    /// The size now; that of the oldest terminals when it is not known.
    static var current: WindowSize {
        WindowSize(columns: StandardError.columns, rows: terminalRows(STDERR_FILENO) ?? 24)
    }

    /// Has changes of the size wait for the one who draws (`SIGWINCH`).
    ///
    /// Called before any thread is started.
    package static func listen() {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe sigaddset(&mask, SIGWINCH)
        _ = unsafe pthread_sigmask(SIG_BLOCK, &mask, nil)
    }
}
