// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A program that runs in a process group of its own.
///
/// What it starts in turn is in that group too, unless it leaves it on purpose. A caller that lets
/// go of a program that has not ended kills all of them.
package struct ChildProcess: ~Copyable, Sendable {
    /// The descriptors that become its standard ones; nil is `/dev/null`.
    package struct Streams: Sendable {
        package var input: Int32?
        package var output: Int32?
        package var error: Int32?

        /// Names three descriptors; unless one is given, complaints go where ours do.
        package init(
            input: Int32? = nil, output: Int32? = nil, error: Int32? = 2
        ) {
            (self.input, self.output, self.error) = (input, output, error)
        }
    }

    private let number: pid_t
    /// Readable once the process has ended.
    private let end: OwnedDescriptor
    /// Whether its status has been asked for: its number may be another process's then.
    private var isOver = false

    /// Runs a command with `sh -c`.
    ///
    /// - Parameters:
    ///   - command: what the shell is given.
    ///   - environment: all its variables, as "NAME=value".
    ///   - streams: what it reads and where it writes.
    ///   - terminal: a descriptor of the terminal that it gets to itself, or nil.
    /// - Throws: `SystemError` when the system has no process or descriptor left.
    package init(
        shell command: String, environment: [String], streams: Streams, terminal: Int32?
    ) throws(SystemError) {
        try self.init(
            "/bin/sh", ["sh", "-c", command], environment: environment, streams: streams,
            terminal: terminal)
    }

    /// Runs a program.
    ///
    /// - Parameters:
    ///   - path: where the program is.
    ///   - words: its arguments, the name it goes by first.
    ///   - environment: all its variables, as "NAME=value".
    ///   - streams: what it reads and where it writes.
    ///   - terminal: a descriptor of the terminal that it gets to itself, or nil.
    /// - Throws: `SystemError` when it cannot be run.
    package init(
        _ path: String, _ words: [String], environment: [String], streams: Streams,
        terminal: Int32? = nil
    ) throws(SystemError) {
        let process = try Self.start(path, words, environment, streams, terminal)
        end = try Self.watch(process)
        number = process
    }

    deinit { if !isOver { Self.kill(number) } }

    /// Waits until the program has ended, and blocks so long.
    ///
    /// - Returns: its status as `waitpid(2)` gives it, or nil when `deadline` has passed before.
    /// - Throws: `SystemError` of `waitpid`.
    package mutating func status(
        by deadline: ContinuousClock.Instant
    ) throws(SystemError) -> Int32? {
        guard waitUntilReadable(end.number, by: deadline) else { return nil }
        var status: Int32 = 0
        try retryingInterrupts("waitpid") { unsafe waitpid(number, &status, 0) }
        isOver = true
        return status
    }

    private static func watch(_ process: pid_t) throws(SystemError) -> OwnedDescriptor {
        do throws(SystemError) {
            return OwnedDescriptor(
                taking: try retryingInterrupts("pidfd_open") { utter_pidfd_open(process) })
        } catch {
            kill(process)
            throw error
        }
    }

    private static func kill(_ number: pid_t) {
        // Until it is waited for, no other process can have its number.
        _ = Glibc.kill(-number, SIGKILL)
        _ = waitpid(number, nil, 0)
    }

    private static func start(
        _ path: String, _ words: [String], _ environment: [String], _ streams: Streams,
        _ terminal: Int32?
    ) throws(SystemError) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let places = [
            (streams.input, STDIN_FILENO, O_RDONLY), (streams.output, STDOUT_FILENO, O_WRONLY),
            (streams.error, STDERR_FILENO, O_WRONLY),
        ]
        for (own, place, direction) in places {
            if let own {
                unsafe posix_spawn_file_actions_adddup2(&actions, own, place)
            } else {
                unsafe posix_spawn_file_actions_addopen(
                    &actions, place, "/dev/null", direction, 0)
            }
        }
        // Before the program begins: it may ask the person at once.
        if let terminal { _ = unsafe utter_spawn_in_foreground(&actions, terminal) }
        // A descriptor from which we read a secret is none of the program's.
        _ = unsafe utter_spawn_with_standard_descriptors_only(&actions)
        // Ctrl-C ends the program as it would end any other.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var usual = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigemptyset(&usual)
        for number in [SIGPIPE, SIGXFSZ] { unsafe sigaddset(&usual, number) }
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var process: pid_t = 0
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
        let code = unsafe posix_spawn(
            &process, path, &actions, &attributes, &arguments, &variables)
        guard code == 0 else { throw SystemError(call: "posix_spawn", code: code) }
        return process
    }
}

/// Waits until a descriptor can be read, or has come to its end; through signals.
///
/// - Returns: false when `deadline` has passed before.
package func waitUntilReadable(_ descriptor: Int32, by deadline: ContinuousClock.Instant) -> Bool {
    while true {
        let left = (deadline - .now) / .milliseconds(1)
        guard left > 0 else { return false }
        var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        if unsafe poll(&readable, 1, Int32(min(left, 1e9)) + 1) > 0 { return true }
    }
}
