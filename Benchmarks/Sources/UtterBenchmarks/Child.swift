// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A program that is measured.
final class Child {
    /// When it was started.
    let start: Int64
    /// Its process id.
    let id: pid_t
    private var isReaped = false

    /// What a program cost, with those that it waited for.
    struct Cost {
        /// User and system time, in seconds.
        var processorTime: Double
        /// The most memory that was resident, in MB.
        var peakMemory: Double
        /// How often its threads waited for something, and were woken.
        var wakeUps = 0.0
        /// As `waitpid(2)` gives it.
        var status: Int32
    }

    /// Starts a program of the PATH; without descriptors it has no input, and its output is thrown away.
    ///
    /// - Throws: `BenchmarkError` when it cannot be executed.
    init(
        _ arguments: [String], environment: [String: String] = [:], input: Int32? = nil,
        output: Int32? = nil
    ) throws(BenchmarkError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let showsErrors = getenv("UTTER_BENCH_VERBOSE") != nil
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output, 1)
        } else {
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        }
        if !showsErrors { posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) }
        for (name, value) in environment { setenv(name, value, 1) }
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var id = pid_t()
        start = monotonicTime()
        let code = posix_spawnp(&id, arguments[0], &actions, nil, &words, environ)
        guard code == 0 else {
            throw BenchmarkError("cannot run \(arguments[0]): \(String(cString: strerror(code)))")
        }
        self.id = id
    }

    /// Starts this program as a `Sink`, with a listening socket as its standard input.
    ///
    /// - Returns: its process id, to be killed and waited for.
    static func serving(on socket: Int32) throws(BenchmarkError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, socket, 0)
        let words = [CommandLine.arguments[0], "sink"]
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        var id = pid_t()
        let code = posix_spawn(&id, words[0], &actions, nil, &pointers, environ)
        guard code == 0 else { throw BenchmarkError("cannot run \(words[0])") }
        return id
    }

    deinit { if !isReaped { kill(id, SIGKILL); _ = wait() } }

    /// Waits for its end.
    @discardableResult
    func wait() -> Cost {
        isReaped = true
        var status: Int32 = 0
        var usage = rusage()
        while wait4(id, &status, 0, &usage) < 0 && errno == EINTR {}
        let seconds = { (time: timeval) in Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return Cost(
            processorTime: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            peakMemory: Double(usage.ru_maxrss) / 1_024, wakeUps: Double(usage.ru_nvcsw),
            status: status)
    }

    /// What is resident now in MB, summed over its mappings; nil when it has ended.
    var residentMemory: Double? {
        guard let file = fopen("/proc/\(id)/smaps_rollup", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(
                decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let words = text.split { $0 == " " || $0 == "\n" }
            if words.count > 1, words[0] == "Rss:", let size = Double(words[1]) {
                return size / 1_024
            }
        }
        return nil
    }

    /// Runs a program to its end; its exit status.
    static func run(_ arguments: [String]) -> Int32 {
        guard let child = try? Child(arguments) else { return -1 }
        return child.wait().status
    }
}
