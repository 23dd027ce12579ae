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

/// The start of a program with `posix_spawnp(3)`.
enum Spawn {
    /// `POSIX_SPAWN_SETSID` of <spawn.h>, which is visible with _GNU_SOURCE only.
    private static let newSession = 0x80

    /// Starts a program in a session of its own, with no signal blocked or ignored.
    static func start(
        _ words: [String], environment: [String: String]? = nil,
        files: (inout posix_spawn_file_actions_t) -> Void
    ) throws(SystemError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        files(&actions)
        // A connection that a child inherits stays open when the other tests close it.
        _ = utter_spawn_with_standard_descriptors_only(&actions)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = Int(POSIX_SPAWN_SETSIGMASK) | Int(POSIX_SPAWN_SETSIGDEF) | newSession
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var process = pid_t()
        let variables = environment.map { $0.map { "\($0.key)=\($0.value)" } }
        let program = words.first ?? ""
        let code = withCStrings(words) { words in
            guard let variables else {
                return posix_spawnp(&process, program, &actions, &attributes, words, environ)
            }
            return withCStrings(variables) {
                posix_spawnp(&process, program, &actions, &attributes, words, $0)
            }
        }
        guard code == 0 else { throw SystemError(call: "posix_spawn", code: code) }
        return process
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
