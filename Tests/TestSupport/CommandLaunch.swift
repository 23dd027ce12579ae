// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// The start of a program with `posix_spawn(3)`.
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

    /// `POSIX_SPAWN_SETSID` of <spawn.h>, which is visible with _GNU_SOURCE only.
    private static let newSession = 0x80

    /// Starts the program.
    ///
    /// - Throws: `CommandError` when a pipe or the process is not to be had.
    func start(_ input: CommandRun.Input) throws(CommandError) -> (Int32, Ends) {
        // No other child may start while our ends of the pipes are inheritable.
        let outcome = descriptorInheritance.update { _ -> Result<(Int32, Ends), CommandError> in
            do throws(CommandError) {
                return .success(try startAlone(input))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    private func startAlone(_ input: CommandRun.Input) throws(CommandError) -> (Int32, Ends) {
        var ends = Ends()
        var childEnds = Ends()
        defer { for end in [childEnds.input, childEnds.output, childEnds.error] { close(end) } }
        do throws(SystemError) {
            if input.needsPipe { (childEnds.input, ends.input) = try Self.pipePair() }
            if !outputOnTerminal { (ends.output, childEnds.output) = try Self.pipePair() }
            if terminalPath == nil { (ends.error, childEnds.error) = try Self.pipePair() }
        } catch {
            for end in [ends.input, ends.output, ends.error] { close(end) }
            throw .system(error)
        }
        var process: Int32 = 0
        let code = spawn(input, childEnds, &process)
        guard code == 0 else {
            for end in [ends.input, ends.output, ends.error] { close(end) }
            throw .notStarted(program: program, SystemError(call: "posix_spawn", code: code))
        }
        return (process, ends)
    }

    private func spawn(
        _ input: CommandRun.Input, _ ends: Ends, _ process: inout Int32
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
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

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = Int(POSIX_SPAWN_SETSIGMASK) | Int(POSIX_SPAWN_SETSIGDEF) | Self.newSession
        posix_spawnattr_setflags(&attributes, Int16(flags))

        let variables = environment.map { "\($0.key)=\($0.value)" }
        return withCStrings([program] + arguments) { arguments in
            withCStrings(variables) { variables in
                posix_spawnp(&process, program, &actions, &attributes, arguments, variables)
            }
        }
    }

    /// A pipe that children do not inherit: its reading and its writing end.
    private static func pipePair() throws(SystemError) -> (Int32, Int32) {
        var pair: [Int32] = [-1, -1]
        try retryingInterrupts("pipe") { pipe(&pair) }
        for end in pair { markCloseOnExec(end) }
        return (pair[0], pair[1])
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

/// Hands strings to C as a list that ends with a null pointer.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = strings.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { buffer in
        guard let base = buffer.baseAddress else { preconditionFailure("the list has an end") }
        return body(base)
    }
}
