// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// A command that prints a key, such as `secret-tool lookup utter key`.
package struct SecretCommand {
    /// How long a person may take to unlock a keyring.
    package static let limit = Duration.seconds(10)
    /// More than any key.
    private static let byteLimit = 16 << 10

    /// What the shell is given.
    private let command: String
    /// What the person named it behind, for messages.
    private let option: String

    /// Names a command.
    package init(_ command: String, option: String) {
        (self.command, self.option) = (command, option)
    }

    /// Runs the command with `sh -c`, and waits for its end.
    ///
    /// It reads from `/dev/null`, talks to the person on standard error, and does not get the
    /// service's key in its environment.
    ///
    /// - Parameter limit: how long it may take.
    /// - Returns: all that it printed, which the caller clears.
    /// - Throws: `CommandFailure` when it fails, takes too long, or prints too much.
    package func output(within limit: Duration = limit) throws(CommandFailure) -> [UInt8] {
        let deadline = ContinuousClock.now + limit
        let (reading, process) = try start()
        let output = OwnedDescriptor(taking: reading)
        var bytes: [UInt8] = []
        do throws(CommandFailure) {
            bytes = try read(output.number, by: deadline)
            try wait(for: process, by: deadline)
        } catch {
            for index in bytes.indices { bytes[index] = 0 }
            kill(process, SIGKILL)
            _ = waitpid(process, nil, 0)
            throw error
        }
        return bytes
    }

    private func start() throws(CommandFailure) -> (reading: Int32, process: pid_t) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw failure(SystemError.last("pipe").reason) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let writing = OwnedDescriptor(taking: ends[1])
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, writing.number, STDOUT_FILENO)
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
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var process: pid_t = 0
        let words = ["sh", "-c", command]
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        var environment = unsafe Self.environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
        let code = unsafe posix_spawn(
            &process, "/bin/sh", &actions, &attributes, &arguments, &environment)
        guard code == 0 else {
            _ = close(ends[0])
            throw failure(SystemError(call: "posix_spawn", code: code).reason)
        }
        return (ends[0], process)
    }

    /// The environment without the service's key.
    private static var environment: [String] {
        var entries: [String] = []
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            entries.append(unsafe String(cString: entry))
            unsafe next += 1
        }
        return entries.filter { !$0.hasPrefix("UTTER_TOKEN=") }
    }

    private func read(
        _ descriptor: Int32, by deadline: ContinuousClock.Instant
    ) throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.count <= Self.byteLimit {
            var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let left = (deadline - .now) / .milliseconds(1)
            guard left > 0 else { throw failure("did not end in time") }
            guard unsafe poll(&readable, 1, Int32(left) + 1) > 0 else { continue }
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
        throw failure("prints too much for a key")
    }

    private func wait(
        for process: pid_t, by deadline: ContinuousClock.Instant
    ) throws(CommandFailure) {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, WNOHANG) == 0 {
            guard deadline > .now else { throw failure("did not end in time") }
            usleep(1_000)
        }
        guard status == 0 else {
            let signal = status & 0x7F
            throw failure(
                signal == 0 ? "ended with status \(status >> 8)" : "was ended by signal \(signal)",
                hint: "try it by itself: sh -c \(ShellWord.quoted(command))")
        }
    }

    private func failure(_ reason: String, hint: String? = nil) -> CommandFailure {
        CommandFailure("\(option): the command \(reason)", hint: hint, status: .configuration)
    }
}
