// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import UtterControl
internal import UtterTerminal

/// A place where texts go.
///
/// A text is harmless already when it comes here (`TerminalText`). A place that cannot take one says
/// so, and the caller prints it elsewhere: no text is lost by that.
enum TextSink: Sendable, Hashable {
    case standardOutput
    /// A file, replaced in one step.
    case file(String)
    case clipboard
    /// The keyboard of the desktop, on which the text is typed.
    case keyboard
    case command(String)

    /// Its name for another process, if it has one: no path and no command goes there.
    var name: ControlRequest.Place? {
        switch self {
        case .keyboard: .type
        case .clipboard: .copy
        case .standardOutput, .file, .command: nil
        }
    }

    struct Circumstances {
        /// Whether a line feed follows the text where that means something.
        var endsLine = true
        /// Whether the run has written there before: the text is added to a file then.
        var isContinued = false
        /// The standard descriptor to which a command prints.
        var commandOutput: Int32 = 1
        /// Whether a command has the terminal to itself.
        var lendsTerminal = true
        /// Asked now and then while a command runs: whether to kill it.
        var isOver: () -> Bool = { false }
    }

    /// Looks whether the place can take a text, before anything is recorded.
    func check() throws(CommandFailure) {
        switch self {
        case .standardOutput, .command: break
        case .file(let path):
            do throws(SystemError) {
                try NamedFile(path).check()
            } catch {
                throw CommandFailure(
                    "-o: '\(path)' cannot be written: \(error.reason)",
                    hint: "name a file in a folder that is there, and yours", status: .configuration
                )
            }
        case .clipboard: _ = try DesktopTool.found(for: .copying)
        case .keyboard: _ = try DesktopTool.found(for: .typing)
        }
    }

    /// Blocks until the text, harmless to a terminal, is there.
    ///
    /// - Returns: why that is not known; nil when it is.
    @discardableResult
    func take(
        _ text: String, in circumstances: Circumstances = Circumstances()
    ) throws(CommandFailure) -> String? {
        let lines = Array((circumstances.endsLine ? text + "\n" : text).utf8)
        switch self {
        case .standardOutput:
            guard StandardOutput.write(lines) else {
                throw CommandFailure(
                    "the transcript cannot be printed: \(unsafe String(cString: strerror(errno)))",
                    status: .localIO)
            }
        case .file(let path): try write(lines, to: path, circumstances)
        case .clipboard: return try DesktopTool.give(text, to: .copying)
        case .keyboard: return try DesktopTool.give(Self.typed(text), to: .typing)
        case .command(let command):
            try TextCommand(command: command).run(lines, in: circumstances)
        }
        return nil
    }

    /// The text as it is typed: a line feed would press Enter, and a tab would leave the field.
    static func typed(_ text: String) -> String {
        TerminalText.singleLine(TerminalText.sanitized(text)).replacing("\t", with: " ")
    }

    private func write(
        _ bytes: [UInt8], to path: String, _ circumstances: Circumstances
    ) throws(CommandFailure) {
        do throws(SystemError) {
            let file = NamedFile(path)
            if circumstances.isContinued {
                try file.append(bytes)
            } else {
                try file.replace(with: bytes)
            }
        } catch {
            throw CommandFailure(
                "-o: '\(path)' cannot be written: \(error.reason)",
                hint: error.isOfRoom ? "make room on the disk" : "write to another file",
                status: .localIO)
        }
    }
}

extension SystemError {
    var isOfRoom: Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }
}
