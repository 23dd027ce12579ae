// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A program that runs in a process group of its own.
///
/// What it starts in turn is in that group too, unless it leaves it on purpose. A caller that lets
/// go of a program that has not ended kills all of them, and waits for its end; on a thread that may
/// not wait it calls `leave` first.
package struct ChildProcess: ~Copyable, Sendable {
    package enum Stream: ~Copyable, Sendable {
        /// `/dev/null`.
        case nothing
        /// A standard descriptor of this process, which stays open.
        case shared(Int32)
        /// Closed here once the program has begun: a number that was closed before could be
        /// another thread's file by then.
        case given(OwnedDescriptor)

        fileprivate var number: Int32? {
            switch self {
            case .nothing: nil
            case .shared(let number): number
            case .given(let descriptor): descriptor.number
            }
        }
    }

    private struct Streams: ~Copyable {
        let input: Stream
        let output: Stream
        let error: Stream
    }

    /// `POSIX_SPAWN_SETSID` of glibc's spawn.h, which shows it to GNU sources alone.
    private static let sessionFlag: Int32 = 0x80

    /// Also of its group.
    package let number: Int32
    private let end: OwnedDescriptor
    private let isDetached: Bool
    /// Once true, the number may be another process's.
    private var isOver = false

    /// Runs a program with the name it goes by as its first word, variables as "NAME=value", and a
    /// terminal that it gets to itself.
    ///
    /// A program that `isDetached` has a session of its own, and goes on when let go of. Limits
    /// are bytes of memory and seconds of processor time; beyond them it fails or is killed.
    package init(
        _ path: String, _ words: [String], environment: [String],
        input: consuming Stream = .nothing, output: consuming Stream = .nothing,
        error: consuming Stream = .shared(ProgramStart.current.error), terminal: Int32? = nil,
        isDetached: Bool = false,
        limits: (memory: Int, time: Int)? = nil
    ) throws(SystemError) {
        let streams = Streams(input: input, output: output, error: error)
        let group = isDetached ? Self.sessionFlag : POSIX_SPAWN_SETPGROUP
        var (path, words) = (path, words)
        // A shell has the limits before it becomes the program.
        if let limits {
            let script =
                "ulimit -v \(limits.memory >> 10); ulimit -t \(limits.time); exec \"$0\" \"$@\""
            (path, words) = ("/bin/sh", ["sh", "-c", script, path] + words.dropFirst())
        }
        let process = try Self.start(path, words, environment, streams, terminal, group)
        end = try Self.watch(process)
        self.isDetached = isDetached
        number = process
    }

    deinit { if !isOver, !isDetached { Self.kill(number) } }

    /// To be polled: readable once the process has ended.
    package var ending: Int32 { end.number }

    /// Blocks until the program has ended: its status of `waitpid(2)`, or nil at the deadline.
    package mutating func status(
        by deadline: ContinuousClock.Instant
    ) throws(SystemError) -> Int32? {
        guard waitUntilReadable(end.number, by: deadline) else { return nil }
        var status: Int32 = 0
        try retryingInterrupts("waitpid") { unsafe waitpid(number, &status, 0) }
        isOver = true
        return status
    }

    /// Kills what still runs of the program's group.
    ///
    /// - Returns: the status of `waitpid(2)`; that of a program that had ended is its own.
    package mutating func kill() -> Int32 {
        guard !isOver else { return 0 }
        isOver = true
        return Self.kill(number)
    }

    /// Kills what still runs of the program's group, and never waits for that: a program that reads from
    /// a disk that hangs ends when that does.
    package mutating func leave() {
        guard !isOver else { return }
        isOver = true
        let number = number
        // Until it is waited for, no other process can have its number.
        _ = Glibc.kill(-number, SIGKILL)
        // If no thread can start, the child stays a zombie until this process ends.
        _ = try? NamedThread(name: "reap") { _ = Self.reap(number) }
    }

    /// Gives the program the terminal to itself, and has it go on if it waits for that.
    ///
    /// The caller's process has the terminal, and takes it back (tcsetpgrp(3)).
    package borrowing func takeTerminal(_ terminal: Int32) {
        _ = tcsetpgrp(terminal, number)
        _ = Glibc.kill(-number, SIGCONT)
    }

    /// How a program has ended, by its status of `waitpid(2)`.
    package static func end(by status: Int32) -> String {
        let signal = status & 0x7F
        return signal == 0 ? "ended with status \(status >> 8)" : "was ended by signal \(signal)"
    }

    private static func watch(_ process: pid_t) throws(SystemError) -> OwnedDescriptor {
        do throws(SystemError) {
            return try OwnedDescriptor(of: "pidfd_open") { utter_pidfd_open(process) }
        } catch {
            kill(process)
            throw error
        }
    }

    @discardableResult
    private static func kill(_ number: pid_t) -> Int32 {
        _ = Glibc.kill(-number, SIGKILL)
        return reap(number)
    }

    private static func reap(_ number: pid_t) -> Int32 {
        var status: Int32 = 0
        _ = unsafe waitpid(number, &status, 0)
        return status
    }

    private static func start(
        _ path: String, _ words: [String], _ environment: [String],
        _ streams: borrowing Streams, _ terminal: Int32?, _ group: Int32
    ) throws(SystemError) -> pid_t {
        // The optimiser ends a value after its last use, and does not see that of its number.
        defer { withExtendedLifetime(streams) {} }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let places = [
            (streams.input.number, STDIN_FILENO, O_RDONLY),
            (streams.output.number, STDOUT_FILENO, O_WRONLY),
            (streams.error.number, STDERR_FILENO, O_WRONLY),
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
        // A descriptor from which we read a secret is not for the program.
        _ = unsafe utter_spawn_with_standard_descriptors_only(&actions)
        // Ctrl-C ends the program as it would end any other.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = signalSet([])
        var usual = signalSet([SIGPIPE, SIGXFSZ])
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))
        var process: pid_t = 0
        var arguments = unsafe words.map { unsafe strdup($0.cPath) } + [nil]
        var variables = unsafe environment.map { unsafe strdup($0.cPath) } + [nil]
        defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
        let code = unsafe posix_spawn(
            &process, path.cPath, &actions, &attributes, &arguments, &variables)
        guard code == 0 else { throw SystemError(call: "posix_spawn", code: code) }
        return process
    }
}

/// Waits until a descriptor is readable or at its end, through signals; false at the deadline, before
/// which it looks once at least.
package func waitUntilReadable(
    _ descriptors: Int32..., by deadline: ContinuousClock.Instant
) -> Bool {
    var events = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    repeat {
        let time = WorkerPause.until(deadline).milliseconds
        if unsafe poll(&events, nfds_t(events.count), time) > 0 { return true }
    } while deadline > .now
    return false
}
