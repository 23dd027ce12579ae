// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// Questions to the person at the terminal, while nothing runs that could be lost.
///
/// Ctrl-C and the like end the program, and leave the terminal as it was.
package struct Dialogue {
    package struct End: Error {}

    package init() {}

    package static var isPossible: Bool {
        isatty(input) == 1 && isatty(StandardError.number) == 1
    }

    private static var input: Int32 { ProgramStart.current.input }

    /// The signals that end or stop the program.
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    /// Keeps blanks at the start.
    package func say(_ text: String) {
        let indent = String(text.prefix { $0 == " " })
        StandardError.write(indent + StandardError.folded(text, indent: indent.count) + "\n")
    }

    /// - Throws: `End` at the end of the input.
    /// - Returns: the line without outer white space; empty for Enter alone.
    package func ask(_ question: String) throws -> String {
        StandardError.write(StandardError.folded("\(question):") + " ")
        return try line()
    }

    /// Enter alone is `usually`.
    package func confirms(_ question: String, usually: Bool) throws -> Bool {
        let answer = try ask("\(question) [\(usually ? "Y/n" : "y/N")]").lowercased()
        return answer.isEmpty ? usually : ["y", "yes"].contains(answer)
    }

    /// As `ask`, without showing what is typed.
    package func askUnseen(_ question: String) throws -> String {
        while true {
            if let line = try unseenLine(question) { return line }
            // Ctrl-Z: it goes on here.
        }
    }

    /// Reads a line without echo; nil after a signal, handled once the terminal is as it was.
    private func unseenLine(_ question: String) throws -> String? {
        let before = SignalMask.change(SIG_BLOCK, Self.signals)
        defer { before.restore() }
        let signals = try SignalDescriptor(signals: Self.signals)
        let input = Self.input
        var settings = termios()
        unsafe tcgetattr(input, &settings)
        var unseen = settings
        unseen.c_lflag &= ~UInt32(ECHO)
        unseen.c_lflag |= UInt32(ECHONL)
        unsafe tcsetattr(input, TCSANOW, &unseen)
        defer { unsafe tcsetattr(input, TCSANOW, &settings) }
        StandardError.write(StandardError.folded("\(question):") + " ")
        var waits = [
            pollfd(fd: input, events: Int16(POLLIN), revents: 0),
            pollfd(fd: signals.number, events: Int16(POLLIN), revents: 0),
        ]
        while unsafe poll(&waits, 2, -1) < 0, errno == EINTR {}
        guard waits[1].revents == 0 else {
            StandardError.write("\n")
            return nil
        }
        return try line()
    }

    private func line() throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.last != 0x0A {
            // A terminal that is gone has nothing more to say.
            let count = try? retryingInterrupts("read") {
                unsafe read(Self.input, &buffer, buffer.count)
            }
            guard let count, count > 0 else {
                StandardError.write("\n")
                throw End()
            }
            bytes += buffer[..<count]
        }
        var line = bytes.drop { $0 <= 0x20 }
        while let last = line.last, last <= 0x20 { line.removeLast() }
        return String(decoding: line, as: UTF8.self)
    }

    /// Ctrl-C ends the program as usual; the end of the input means no.
    package static func confirms(_ question: String) -> Bool {
        Signals.unblock()
        defer { Signals.block() }
        StandardError.question("\(question) [y/N]")
        // The end of the input.
        guard let line = try? Dialogue().line() else { return false }
        return ["y", "yes"].contains(line.lowercased())
    }
}
