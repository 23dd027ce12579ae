// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import Glibc
internal import LinuxPlatform
internal import Synchronization
internal import Utter
internal import UtterTerminal

/// A command that prints a key, such as `secret-tool lookup utter key`.
struct SecretCommand {
    /// How long a person may take to unlock a keyring.
    static let limit = Duration.seconds(10)
    /// The limit while a take records, after which the pipeline waits no longer.
    static let limitOnLoan = Duration.seconds(60)
    /// A command that takes longer may ask the person; most print a token at once.
    private static let timeWithoutTerminal = Duration.milliseconds(250)
    /// More than any key.
    private static let byteLimit = 16 << 10

    let command: String
    /// The option with which the person named it, for messages.
    let option: String

    /// Runs the command with `sh -c`, and waits for its end.
    ///
    /// It reads from `/dev/null`, talks to the person on standard error, and does not get the
    /// service's token in its environment. It has the terminal to itself: at once, or with a loan when
    /// it does not print at once, so that the keys of a take are listened to until then.
    ///
    /// The service may have refused what it printed last. A loan takes the terminal from the take that
    /// records, and ends the wait. The caller clears what is returned.
    func output(
        within limit: Duration? = nil, isRefused: Bool = false, loan: TerminalLoan? = nil
    ) throws(CommandFailure) -> [UInt8] {
        let limit = limit ?? (loan == nil ? Self.limit : Self.limitOnLoan)
        let deadline = ContinuousClock.now + limit
        let terminal = ForegroundTerminal()
        defer {
            terminal?.takeBack()
            loan?.end()
        }
        let ends = try pipe()
        let printed = OwnedDescriptor(taking: ends.reading)
        var process = try start(
            printingTo: ends.writing, on: loan == nil ? terminal?.number : nil,
            isRefused: isRefused)
        var bytes: [UInt8] = []
        do throws(CommandFailure) {
            if let loan, let terminal,
                !waitUntilReadable(
                    printed.number, loan.cancellation, by: .now + Self.timeWithoutTerminal)
            {
                loan.begin()
                process.takeTerminal(terminal.number)
            }
            guard try read(printed.number, of: process, into: &bytes, by: deadline, loan),
                try wait(for: &process, by: deadline)
            else { throw failure("did not end within \(StatusLine.seconds(limit))") }
        } catch {
            bytes.clear()
            throw error
        }
        return bytes
    }

    func firstLine(
        isRefused: Bool = false, loan: TerminalLoan? = nil
    ) throws(CommandFailure) -> String {
        var output = try output(isRefused: isRefused, loan: loan)
        defer { output.clear() }
        let line = String(decoding: output.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
        guard line.isEmpty else { return line }
        throw failure("prints nothing in its first line", hint: trialHint)
    }

    private var trialHint: String { "try it by itself: sh -c \(ShellWord.quoted(command))" }

    private func pipe() throws(CommandFailure) -> (reading: Int32, writing: Int32) {
        do throws(SystemError) {
            return try makePipe()
        } catch {
            throw failure("cannot be run: \(error.description)")
        }
    }

    /// Starts the command; its end of the pipe is open in it alone then.
    private func start(
        printingTo number: Int32, on terminal: Int32?, isRefused: Bool
    ) throws(CommandFailure) -> ChildProcess {
        let environment =
            Environment.all { $0 != ServiceVariables.tokenName }
            + (isRefused ? ["UTTER_TOKEN_REFUSED=1"] : [])
        let writing = OwnedDescriptor(taking: number)
        do throws(SystemError) {
            return try ChildProcess(
                "/bin/sh", ["sh", "-c", command], environment: environment,
                output: .given(writing), terminal: terminal)
        } catch {
            throw failure("cannot be run: \(error.description)")
        }
    }

    /// Reads to the end, or until the command has ended and its last line is whole: what it has left
    /// in the background may hold the pipe open.
    ///
    /// Returns false when the command was too slow, or its secret is not wanted any more; so does
    /// `wait`.
    private func read(
        _ descriptor: Int32, of process: borrowing ChildProcess, into bytes: inout [UInt8],
        by deadline: ContinuousClock.Instant, _ loan: TerminalLoan?
    ) throws(CommandFailure) -> Bool {
        let cancellation = loan?.cancellation ?? -1
        var buffer = [UInt8](repeating: 0, count: 4_096)
        defer { buffer.clear() }
        while bytes.count <= Self.byteLimit {
            let ending = bytes.last == 0x0A ? process.ending : -1
            guard waitUntilReadable(descriptor, cancellation, ending, by: deadline),
                loan?.isCancelled != true
            else { return false }
            // It has ended, and what it has printed was read.
            guard WorkerPause.until(.now).wait(for: descriptor) else { return true }
            // The command's own status says whether that was all.
            let count = try? retryingInterrupts("read") {
                unsafe Glibc.read(descriptor, &buffer, buffer.count)
            }
            guard let count, count > 0 else { return true }
            bytes += buffer[..<count]
        }
        throw failure("prints too much for a key")
    }

    private func wait(
        for process: inout ChildProcess, by deadline: ContinuousClock.Instant
    ) throws(CommandFailure) -> Bool {
        let status: Int32?
        do throws(SystemError) {
            status = try process.status(by: deadline)
        } catch {
            throw failure("is lost: \(error.description)")
        }
        guard let status else { return false }
        guard status == 0 else {
            throw failure(ChildProcess.end(by: status), hint: trialHint)
        }
        return true
    }

    private func failure(_ reason: String, hint: String? = nil) -> CommandFailure {
        CommandFailure("\(option): the command \(reason)", hint: hint, status: .configuration)
    }
}

/// Answers the pipeline's questions for secrets, while a take records.
final class SecretAsker: Sendable {
    private let signals: Signals?
    /// Secrets that can be read once only, and serve the whole run.
    private let readOnce = Mutex<[SecretSource: String]>([:])

    /// `signals` reads the keys of the command's terminal, if anything does.
    init(_ signals: Signals? = nil) { self.signals = signals }

    /// Reads the source, or runs the command, on a thread of its own.
    func answer(_ question: SecretQuestion) async throws -> String {
        if case .command(let command) = question.source {
            return try await answer(of: command, question)
        }
        // Programs that we run do not get it.
        if case .variable(let name) = question.source { _ = Environment.secret(name) }
        if let known = readOnce.withLock({ $0[question.source] }) { return known }
        let secret = try await question.source.read()
        switch question.source {
        case .file(let path), .headerFile(let path):
            if !OwnFile.isRegular(path) { readOnce.withLock { $0[question.source] = secret } }
        default: break
        }
        return secret
    }

    private func answer(of command: String, _ question: SecretQuestion) async throws -> String {
        let loan = try TerminalLoan(from: signals)
        let answer = Settlement<Result<String, CommandFailure>>()
        _ = try NamedThread(name: "secret") {
            answer.settle(
                Result { () throws(CommandFailure) in
                    try SecretCommand(command: command, option: "the token")
                        .firstLine(isRefused: question.isRefused, loan: loan)
                })
        }
        return try await withTaskCancellationHandler {
            try await answer.value.get()
        } onCancel: {
            loan.cancel()
        }
    }
}

extension CommandFailure: CustomStringConvertible {
    package var description: String { message }
}
