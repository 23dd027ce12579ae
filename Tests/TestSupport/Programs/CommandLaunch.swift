// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import LinuxPlatform

/// The start of a program whose output a test reads.
struct CommandLaunch {
    /// The test's ends of the program's pipes, -1 where there is none.
    ///
    /// The caller that gets them closes them.
    struct Ends: Sendable {
        var input: Int32 = -1
        var output: Int32 = -1
        var error: Int32 = -1
    }

    let program: String
    let arguments: [String]
    let environment: [String: String]
    let terminalPath: String?
    let outputOnTerminal: Bool

    /// Starts the program.
    ///
    /// - Throws: `CommandError` when a pipe or the process is not to be had.
    func start(_ input: CommandRun.Input) throws(CommandError) -> (Int32, Ends) {
        var ends = Ends()
        var childEnds = Ends()
        defer { for end in [childEnds.input, childEnds.output, childEnds.error] { close(end) } }
        do throws(SystemError) {
            if input.needsPipe { (childEnds.input, ends.input) = try makePipe() }
            if !outputOnTerminal { (ends.output, childEnds.output) = try makePipe() }
            if terminalPath == nil { (ends.error, childEnds.error) = try makePipe() }
        } catch {
            for end in [ends.input, ends.output, ends.error] { close(end) }
            throw .system(error)
        }
        do throws(SystemError) {
            let process = try Spawn.start([program] + arguments, environment: environment) {
                connect(&$0, input, childEnds)
            }
            return (process, ends)
        } catch {
            for end in [ends.input, ends.output, ends.error] { close(end) }
            throw .notStarted(program: program, error)
        }
    }

    private func connect(
        _ actions: inout posix_spawn_file_actions_t, _ input: CommandRun.Input, _ ends: Ends
    ) {
        // The terminal is opened first: the leader of a new session gets it as its own.
        if let terminalPath {
            posix_spawn_file_actions_addopen(&actions, 2, terminalPath, O_RDWR, 0)
        } else {
            posix_spawn_file_actions_adddup2(&actions, ends.error, 2)
        }
        switch input {
        case .nothing: posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        case .bytes, .pipe: posix_spawn_file_actions_adddup2(&actions, ends.input, 0)
        case .terminal: posix_spawn_file_actions_adddup2(&actions, 2, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, outputOnTerminal ? 2 : ends.output, 1)
    }
}

extension CommandRun.Input {
    fileprivate var needsPipe: Bool {
        switch self {
        case .bytes, .pipe: true
        case .nothing, .terminal: false
        }
    }
}
