// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// A question with yes or no to the person at the terminal, where nothing runs meanwhile.
package enum Confirmation {
    package static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Asks, and waits for a line.
    ///
    /// Ctrl-C ends the program as it does any other.
    package static func ask(_ question: String) -> Bool {
        Signals.unblock()
        defer { Signals.block() }
        StandardError.write("utter: \(TerminalText.singleLine(question)) [y/N] ")
        guard let line = readLine() else {
            StandardError.write("\n")
            return false
        }
        return ["y", "yes"].contains(line.lowercased())
    }
}
