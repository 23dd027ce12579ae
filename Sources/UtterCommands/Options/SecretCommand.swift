// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import Glibc
internal import LinuxPlatform

/// A command that prints a key, such as `secret-tool lookup utter key`.
package struct SecretCommand {
    /// How long a person may take to unlock a keyring.
    package static let limit = Duration.seconds(10)
    /// More than any key.
    private static let byteLimit = 16 << 10

    private let command: String
    /// What the person named it behind, for messages.
    private let option: String

    package init(_ command: String, option: String) {
        (self.command, self.option) = (command, option)
    }

    /// Runs the command with `sh -c`, and waits for its end.
    ///
    /// It reads from `/dev/null`, talks to the person on standard error, and does not get the
    /// service's token in its environment.
    /// The caller clears what is returned.
    package func output(within limit: Duration = limit) throws(CommandFailure) -> [UInt8] {
        let deadline = ContinuousClock.now + limit
        let terminal = ForegroundTerminal.ours()
        defer { terminal?.takeBack() }
        let ends = try pipe()
        let printed = OwnedDescriptor(taking: ends.reading)
        var process = try start(printingTo: ends.writing, on: terminal?.number)
        var bytes: [UInt8] = []
        do throws(CommandFailure) {
            try read(printed.number, of: process, into: &bytes, by: deadline)
            try wait(for: &process, by: deadline)
        } catch {
            bytes.clear()
            throw error
        }
        return bytes
    }

    private func pipe() throws(CommandFailure) -> (reading: Int32, writing: Int32) {
        do throws(SystemError) {
            return try makePipe()
        } catch {
            throw failure("cannot be run: \(error.description)")
        }
    }

    /// Starts the command; its end of the pipe is open in it alone then.
    private func start(
        printingTo number: Int32, on terminal: Int32?
    ) throws(CommandFailure) -> ChildProcess {
        let writing = OwnedDescriptor(taking: number)
        do throws(SystemError) {
            return try ChildProcess(
                shell: command, environment: Environment.all { $0 != ServiceVariables.tokenName },
                streams: .init(output: writing.number), terminal: terminal)
        } catch {
            throw failure("cannot be run: \(error.description)")
        }
    }

    /// Reads to the end, or until the command has ended and its last line is whole: what it has left
    /// in the background may hold the pipe open.
    private func read(
        _ descriptor: Int32, of process: borrowing ChildProcess, into bytes: inout [UInt8],
        by deadline: ContinuousClock.Instant
    ) throws(CommandFailure) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        defer { buffer.clear() }
        while bytes.count <= Self.byteLimit {
            let isWhole = bytes.last == 0x0A
            guard
                isWhole
                    ? process.waitUntilOver(orReadable: descriptor, by: deadline)
                    : waitUntilReadable(descriptor, by: deadline)
            else { throw late }
            // It has ended, and what it has printed was read.
            guard WorkerPause.until(.now).wait(for: descriptor) else { return }
            // The command's own status says whether that was all.
            let count = try? retryingInterrupts("read") {
                unsafe Glibc.read(descriptor, &buffer, buffer.count)
            }
            guard let count, count > 0 else { return }
            bytes += buffer[..<count]
        }
        throw failure("prints too much for a key")
    }

    private func wait(
        for process: inout ChildProcess, by deadline: ContinuousClock.Instant
    ) throws(CommandFailure) {
        let status: Int32?
        do throws(SystemError) {
            status = try process.status(by: deadline)
        } catch {
            throw failure("is lost: \(error.description)")
        }
        guard let status else { throw late }
        guard status == 0 else {
            let signal = status & 0x7F
            throw failure(
                signal == 0 ? "ended with status \(status >> 8)" : "was ended by signal \(signal)",
                hint: "try it by itself: sh -c \(ShellWord.quoted(command))")
        }
    }

    private var late: CommandFailure { failure("did not end in time") }

    private func failure(_ reason: String, hint: String? = nil) -> CommandFailure {
        CommandFailure("\(option): the command \(reason)", hint: hint, status: .configuration)
    }
}
