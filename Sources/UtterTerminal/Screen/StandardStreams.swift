// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// Everything that a person reads besides the transcript.
///
/// Errors are `utter: error: …`, and what to do is `utter: hint: …`; both in lower case, without a
/// full stop.
package enum StandardError {
    static var number: Int32 { ProgramStart.current.error }

    /// A terminal whose cursor may be moved.
    package static var isTerminal: Bool {
        !isPlain && isatty(number) == 1 && Environment.terminalHasCodes
    }

    static var hasColour: Bool { isTerminal && Environment[filled: "NO_COLOR"] == nil }

    static var isPlain: Bool { ProgramStart.current.isPlain.load(ordering: .relaxed) }

    package static func bePlain() {
        ProgramStart.current.isPlain.store(true, ordering: .relaxed)
    }

    package static var columns: Int { terminalColumns(number) ?? 80 }
    package static var rows: Int { terminalRows(number) ?? 24 }

    /// Without waiting for the reader.
    package static var isWritable: Bool {
        var request = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&request, 1, 0) > 0 && request.revents & Int16(POLLOUT) != 0
    }

    package static func write(_ text: String) {
        // A closed standard error must not end a take.
        _ = writeAll(Array(text.utf8), to: number)
    }

    /// The text may hold anything: names of files and words of a service come from outside.
    package static func line(_ text: String) {
        write(folded("utter: \(text)") + "\n")
    }

    /// A line beside which there are fields where standard error is systemd's journal.
    package static func line(_ text: String, with fields: [String: String]) {
        let journal = JournalSocket(leadingFrom: number, named: Environment["JOURNAL_STREAM"])
        if let journal, journal.take(folded("utter: \(text)"), fields) { return }
        line(text)
    }

    /// "error" is red where there are colours.
    package static func error(_ text: String) {
        let line = folded("utter: error: \(text)")
        let red = "utter: \u{1B}[31merror:\u{1B}[0m"
        write((hasColour ? red + line.dropFirst("utter: error:".count) : line) + "\n")
    }

    /// The answer is typed behind the question.
    package static func question(_ text: String) { write(folded("utter: \(text)") + " ") }

    /// Broken between words for the terminal.
    static func folded(_ text: String, indent: Int = 0) -> String {
        let line = TerminalText.singleLine(TerminalText.sanitized(text))
        return isTerminal ? TextWidth.folded(line, columns: columns - indent) : line
    }

    package static func hint(_ text: String?) {
        if let text { line("hint: \(text)") }
    }
}

extension Environment {
    /// As TERM names it; a terminal without a name does not.
    static var terminalHasCodes: Bool { !["", "dumb", "unknown"].contains(self["TERM"] ?? "") }
}

/// The transcript, and nothing else.
package enum StandardOutput {
    private static var number: Int32 { ProgramStart.current.output }

    /// The columns; nil when standard output is not a terminal.
    package static var columns: Int? {
        isatty(number) == 1 ? terminalColumns(number) ?? 80 : nil
    }

    /// `COLUMNS`, or else the terminal's width.
    package static func columns(orOf variable: String?) -> Int? {
        variable.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? columns
    }

    /// Texts in a column behind `head`, or below it where a terminal has no room; a terminal's are broken
    /// between words.
    package static func folded(_ texts: [String], behind head: String = "") -> String {
        let (columns, width) = (columns ?? .max, TextWidth.columns(of: head))
        let isBelow = width > 0 && columns - width < leastColumn
        let indent = isBelow ? 2 : width
        let margin = "\n" + String(repeating: " ", count: indent)
        let body = texts.map { TextWidth.folded($0, columns: columns - indent) }
            .joined(separator: "\n").replacing("\n", with: margin)
        guard isBelow else { return head + body }
        let words = head.split(separator: " ").joined(separator: " ")
        return TextWidth.folded(words, columns: columns) + margin + body
    }

    /// The fewest columns in which a sentence can be read.
    private static let leastColumn = 24

    package static func print(_ text: String) -> Bool { write(Array(text.utf8) + [0x0A]) }

    /// Says that nothing more will be written; what is written all the same goes nowhere.
    package static func end() {
        let nowhere = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard nowhere >= 0 else { return }
        dup2(nowhere, number)
        close(nowhere)
    }

    /// False, with `errno`, when not all bytes were written.
    package static func write(_ bytes: [UInt8]) -> Bool { writeAll(bytes, to: number) }
}

/// False, with `errno`, when not all bytes were written.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var bytes = bytes[...]
    while !bytes.isEmpty {
        let present = bytes
        // The caller finds the reason in `errno`.
        let count = try? retryingInterrupts("write") {
            unsafe present.withUnsafeBytes {
                unsafe write(descriptor, $0.baseAddress, $0.count)
            }
        }
        guard let count, count > 0 else { return false }
        bytes = bytes.dropFirst(count)
    }
    return true
}
