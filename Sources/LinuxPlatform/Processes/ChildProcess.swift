// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A shell command that runs in a process group of its own, and what it prints.
///
/// What the command starts in turn is in that group too, unless it leaves it on purpose. A
/// caller that lets go of a command that has not ended kills all of them.
package struct ChildProcess: ~Copyable, Sendable {
    /// Its standard output, for reading.
    package let output: OwnedDescriptor
    private let number: pid_t
    /// Readable once the process has ended.
    private let end: OwnedDescriptor
    /// Whether its status has been asked for: its number may be another process's then.
    private var isOver = false

    /// Runs a command with `sh -c`; it reads from `/dev/null`, and has our standard error.
    ///
    /// - Parameters:
    ///   - command: what the shell is given.
    ///   - environment: all its variables, as "NAME=value".
    ///   - terminal: a descriptor of the terminal that it gets to itself, or nil.
    /// - Throws: `SystemError` when the system has no process or descriptor left.
    package init(
        shell command: String, environment: [String], terminal: Int32?
    ) throws(SystemError) {
        let ends = try makePipe()
        let reading = OwnedDescriptor(taking: ends.reading)
        let writing = OwnedDescriptor(taking: ends.writing)
        let process = try Self.start(
            ["sh", "-c", command], environment, writing: writing.number, terminal)
        end = try Self.watch(process)
        number = process
        output = reading
    }

    deinit { if !isOver { Self.kill(number) } }

    /// Waits until the command has ended, and blocks so long.
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
        _ words: [String], _ environment: [String], writing: Int32, _ terminal: Int32?
    ) throws(SystemError) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, writing, STDOUT_FILENO)
        // Before the command begins: it may ask the person at once.
        if let terminal { _ = unsafe utter_spawn_in_foreground(&actions, terminal) }
        // Ctrl-C ends the command as it would end any other.
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
            &process, "/bin/sh", &actions, &attributes, &arguments, &variables)
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
