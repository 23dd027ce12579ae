// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// Everything that a person reads besides the transcript.
///
/// Errors are `utter: error: …` and what to do is `utter: hint: …`; both in lower case, without
/// a full stop. Nothing here is ever mixed into standard output.
package enum StandardError {
    private static let canMoveCursor = isatty(STDERR_FILENO) == 1 && Environment.terminalHasCodes
    private static let isColourWanted = (Environment["NO_COLOR"] ?? "").isEmpty
    /// Whether the person wants no control sequences, whatever the terminal can do.
    private static let plain = Atomic(false)

    /// Whether standard error is a terminal whose cursor may be moved.
    package static var isTerminal: Bool { canMoveCursor && !isPlain }

    static var hasColour: Bool { isTerminal && isColourWanted }

    static var isPlain: Bool { plain.load(ordering: .relaxed) }

    package static func bePlain() { plain.store(true, ordering: .relaxed) }

    package static var columns: Int { terminalColumns(STDERR_FILENO) ?? 80 }

    /// Whether a line can be written without waiting for its reader.
    package static var isWritable: Bool {
        var request = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&request, 1, 0) > 0 && request.revents & Int16(POLLOUT) != 0
    }

    package static func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let present = bytes
            // A closed standard error must not end a take.
            let count = try? retryingInterrupts("write") {
                unsafe present.withUnsafeBytes {
                    unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
                }
            }
            guard let count, count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Writes one line, whatever the text holds: names of files and words of a service come from
    /// outside.
    package static func line(_ text: String) {
        write(folded("utter: \(text)") + "\n")
    }

    /// Writes why something failed; the word "error" in red where there are colours.
    package static func error(_ text: String) {
        let line = folded("utter: error: \(text)")
        let red = "utter: \u{1B}[31merror:\u{1B}[0m"
        write((hasColour ? red + line.dropFirst("utter: error:".count) : line) + "\n")
    }

    /// Asks for a line, which is typed behind the question.
    package static func question(_ text: String) { write(folded("utter: \(text)") + " ") }

    /// One line, broken between words for the terminal.
    static func folded(_ text: String, indent: Int = 0) -> String {
        let line = TerminalText.singleLine(TerminalText.sanitized(text))
        return isTerminal ? TextWidth.folded(line, columns: columns - indent) : line
    }

    package static func hint(_ text: String?) {
        if let text { line("hint: \(text)") }
    }
}

extension Environment {
    /// Whether the terminal, as TERM names it, knows control sequences; one that has no name does not.
    static var terminalHasCodes: Bool { !["", "dumb", "unknown"].contains(self["TERM"] ?? "") }
}
