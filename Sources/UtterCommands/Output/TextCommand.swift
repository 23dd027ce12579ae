// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import UtterTerminal

/// The command of `--run`, which reads a text.
struct TextCommand {
    /// How often it is asked whether to kill it.
    private static let interval = Duration.milliseconds(100)

    private let command: String

    init(_ command: String) { self.command = command }

    /// Runs the command with `sh -c`, and waits for its end, however long that takes.
    ///
    /// It has the terminal to itself, where that is lent, and no secret in its environment.
    ///
    /// - Throws: `CommandFailure` when it cannot be run, fails, or is killed since the program is to
    ///   end.
    func run(
        _ bytes: [UInt8], in circumstances: TextSink.Circumstances
    ) throws(CommandFailure) {
        let terminal = circumstances.lendsTerminal ? ForegroundTerminal.ours() : nil
        defer { terminal?.takeBack() }
        let status: Int32?
        do throws(SystemError) {
            let input = try makeMemoryFile(bytes)
            var process = try ChildProcess(
                shell: command, environment: ScrubbedEnvironment.entries(),
                input: .given(input), output: .shared(circumstances.commandOutput),
                terminal: terminal?.number)
            var ended = try process.status(by: .now + Self.interval)
            while ended == nil, !circumstances.isOver() {
                ended = try process.status(by: .now + Self.interval)
            }
            status = ended
        } catch {
            throw failure("cannot be run: \(error.reason)")
        }
        guard let status else { throw failure("was killed before its end") }
        guard status == 0 else {
            let signal = status & 0x7F
            throw failure(
                signal == 0 ? "ended with status \(status >> 8)" : "was ended by signal \(signal)")
        }
    }

    private func failure(_ reason: String) -> CommandFailure {
        CommandFailure(
            "--run: the command \(reason)",
            hint: "try it by itself: utter last | sh -c \(ShellWord.quoted(command))",
            status: .localIO)
    }
}
