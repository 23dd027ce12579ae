// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Utter
internal import UtterTerminal

/// The command of `--run`, which reads a text.
struct TextCommand {
    private static let interval = Duration.milliseconds(100)

    let command: String

    /// Runs the command with `sh -c`, and waits for its end, however long that takes; it is killed
    /// when the program is to end.
    ///
    /// It has the terminal to itself, where that is lent, and no secret in its environment.
    func run(
        _ bytes: [UInt8], in circumstances: TextSink.Circumstances
    ) throws(CommandFailure) {
        let terminal = circumstances.lendsTerminal ? ForegroundTerminal() : nil
        defer { terminal?.takeBack() }
        let status: Int32?
        do throws(SystemError) {
            let input = try makeMemoryFile(bytes)
            var process = try ChildProcess(
                "/bin/sh", ["sh", "-c", command], environment: ScrubbedEnvironment.entries(),
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
        guard status == 0 else { throw failure(ChildProcess.end(by: status)) }
    }

    private func failure(_ reason: String) -> CommandFailure {
        CommandFailure(
            "--run: the command \(reason)",
            hint: "try it by itself: utter last | sh -c \(ShellWord.quoted(command))",
            status: .localIO)
    }
}
