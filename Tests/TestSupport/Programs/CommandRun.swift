// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// A program that runs beside the test; killed when its last reference goes.
///
/// The child gets exactly the environment that it is given, its own session, default signals and
/// no descriptor but 0, 1 and 2. Its output is collected on threads of our own.
package final class CommandRun: Sendable {
    /// What the program reads from its standard input.
    package enum Input: Sendable {
        /// Nothing: `/dev/null`.
        case nothing

        /// These bytes, then the end.
        case bytes([UInt8])

        /// What the test writes with `write(_:)`, until `closeInput()`.
        case pipe

        case terminal
    }

    package let processIdentifier: Int32
    private let program: String
    private let collector: CommandCollector
    private let threads: [JoinableThread]
    private let held: (any Sendable)?

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: its path; without a slash it is looked for in `PATH`.
    ///   - arguments: what follows its name.
    ///   - environment: all its variables; by default those of the test without the ones that
    ///     would change the program's behaviour, see `cleanEnvironment`.
    ///   - input: what it reads.
    ///   - terminal: its controlling terminal and standard error.
    ///   - outputOnTerminal: whether its standard output is the terminal too.
    ///   - held: what stays until it is gone, such as its folder.
    /// - Throws: `CommandError` when it cannot be started.
    package init(
        _ program: String, _ arguments: [String] = [],
        environment: [String: String] = CommandRun.cleanEnvironment,
        input: Input = .nothing,
        terminal: PseudoTerminal? = nil,
        outputOnTerminal: Bool = false,
        holding held: (any Sendable)? = nil
    ) throws(CommandError) {
        (self.program, self.held) = (program, held)
        let collector: CommandCollector
        do throws(SystemError) {
            collector = try CommandCollector(terminal: terminal)
        } catch {
            throw .system(error)
        }
        let launch = CommandLaunch(
            program: program, arguments: arguments, environment: environment,
            terminalPath: terminal?.childPath, outputOnTerminal: outputOnTerminal)
        let (process, ends) = try launch.start(input)
        processIdentifier = process
        self.collector = collector
        do throws(SystemError) {
            threads = [
                try JoinableThread(name: "test-collect") { collector.collect(ends) },
                try JoinableThread(name: "test-reap") { collector.reap(process) },
            ]
        } catch {
            kill(process, SIGKILL)
            throw .system(error)
        }
        switch input {
        case .bytes(let bytes):
            collector.queueInput(bytes)
            collector.queueInputEnd()
        case .nothing, .pipe, .terminal: break
        }
    }

    deinit {
        signal(SIGKILL)
        for thread in threads { thread.join() }
    }

    /// Starts an executable product of the same build as the tests.
    package static func product(
        _ name: String, _ arguments: [String] = [],
        environment: [String: String] = CommandRun.cleanEnvironment,
        input: Input = .nothing,
        terminal: PseudoTerminal? = nil,
        outputOnTerminal: Bool = false,
        holding held: (any Sendable)? = nil
    ) throws(CommandError) -> CommandRun {
        guard let path = BuiltProducts.path(of: name) else { throw .notBuilt(name) }
        return try CommandRun(
            path, arguments, environment: environment, input: input, terminal: terminal,
            outputOnTerminal: outputOnTerminal, holding: held)
    }

    /// Runs a program to its end, away from the cooperative pool.
    package static func run(
        _ program: String, _ arguments: [String] = [],
        environment: [String: String] = CommandRun.cleanEnvironment,
        input: Input = .nothing, within limit: Duration = .patience
    ) async throws(CommandError) -> CommandResult {
        let run = try CommandRun(program, arguments, environment: environment, input: input)
        return try await run.result(within: limit)
    }

    package var output: [UInt8] { collector.bytes(of: .output) }

    package var error: [UInt8] { collector.bytes(of: .error) }

    package var screen: [UInt8] { collector.bytes(of: .screen) }

    /// How it ended; nil while it runs.
    package var status: CommandResult.Status? { collector.state.look { $0.status } }

    /// Gives it more to read, for an input that is a pipe.
    ///
    /// Never blocks; without a reader the bytes are dropped.
    package func write(_ bytes: [UInt8]) {
        collector.queueInput(bytes)
    }

    /// Ends its standard input, after all that was written.
    package func closeInput() {
        collector.queueInputEnd()
    }

    /// Sends it a signal; does nothing when it has ended.
    package func signal(_ number: Int32) {
        // The lock keeps the process from being reaped, and its number from being used again.
        collector.state.look { state in
            if state.status == nil { _ = kill(processIdentifier, number) }
        }
    }

    /// Closes its terminal, as closing the window or losing an ssh connection does.
    package func hangUp() {
        collector.hangUp()
    }

    /// Waits until text has appeared in one of its streams.
    ///
    /// - Returns: false when `limit` has passed, or it ended, before.
    package func wait(
        for text: String, in stream: CommandCollector.Stream,
        within limit: Duration = .patience
    ) async -> Bool {
        let wanted = Array(text.utf8)
        return await wait(in: stream, within: limit) { !$0.ranges(of: wanted).isEmpty }
    }

    /// Waits until what one of its streams holds is as `condition` wants it.
    ///
    /// - Returns: false when `limit` has passed, or it ended, before.
    package func wait(
        in stream: CommandCollector.Stream, within limit: Duration = .patience,
        until condition: @escaping @Sendable ([UInt8]) -> Bool
    ) async -> Bool {
        let found = await collector.state.wait(within: limit) { state -> Bool? in
            if condition(state[stream]) { return true }
            return state.isFinished ? false : nil
        }
        return found ?? false
    }

    /// Waits until it has ended and its output is read.
    ///
    /// - Throws: `CommandError.tooLong` after `limit`; it has been killed then.
    package func result(within limit: Duration = .patience) async throws(CommandError)
        -> CommandResult
    {
        let result = await collector.state.wait(within: limit) { state -> CommandResult? in
            guard state.isFinished, let status = state.status else { return nil }
            return CommandResult(
                status: status, output: state.output, error: state.error, screen: state.screen)
        }
        if let result { return result }
        signal(SIGKILL)
        throw .tooLong(
            program: program, after: limit, output: String(decoding: output, as: UTF8.self),
            error: String(decoding: error.isEmpty ? screen : error, as: UTF8.self))
    }

    /// The variables of the test that every program needs, and a fixed language.
    package static let cleanEnvironment: [String: String] = {
        var environment = ["LC_ALL": "C.UTF-8", "SWIFT_BACKTRACE": "enable=no"]
        for name in ["PATH", "HOME", "TMPDIR", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"] {
            if let value = getenv(name) { environment[name] = String(cString: value) }
        }
        return environment
    }()
}
