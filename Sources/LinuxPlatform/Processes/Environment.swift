// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
package import Synchronization

/// The words, variables, standard descriptors and time which a program starts with.
///
/// They are the process's own, unless a task has others. The threads of a take serve a process, and
/// know no task: only a command that starts none runs in a task of its own.
package final class ProgramStart: Sendable {
    @TaskLocal package static var current = ProgramStart()

    /// The words of the command line, of which those that are paths need not be UTF-8.
    package let words: [String]
    /// nil: those of the process.
    fileprivate let variables: [String: String]?
    package let input: Int32
    package let output: Int32
    package let error: Int32
    /// In seconds since 1970; nil: the system's clock is asked.
    private let fixedTime: Double?
    /// The person wants no control sequences.
    package let isPlain = Atomic(false)

    package init(
        words: [String], variables: [String: String]?, input: Int32, output: Int32, error: Int32,
        time: Double? = nil
    ) {
        (self.words, self.variables, fixedTime) = (words, variables, time)
        (self.input, self.output, self.error) = (input, output, error)
    }

    /// The process's own.
    private convenience init() {
        let words = (0..<Int(CommandLine.argc)).compactMap { index in
            unsafe CommandLine.unsafeArgv[index].map { unsafe String(cPath: $0) }
        }
        self.init(
            words: words, variables: nil, input: STDIN_FILENO, output: STDOUT_FILENO,
            error: STDERR_FILENO)
    }

    /// The time from which a command counts ages, in seconds since 1970.
    package var time: Double {
        if let fixedTime { return fixedTime }
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}

/// The variables of a program's start; read by commands only, and never by the library, but for those
/// that name a proxy.
package enum Environment {
    package static subscript(name: String) -> String? {
        guard let variables = ProgramStart.current.variables else {
            return unsafe getenv(name).map { unsafe String(cPath: $0) }
        }
        return variables[name]
    }

    /// The value of a variable; nil when it is empty or not set.
    package static subscript(filled name: String) -> String? {
        self[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// As "NAME=value".
    package static func all(where isWanted: (String) -> Bool) -> [String] {
        var entries: [String] = []
        if let variables = ProgramStart.current.variables {
            entries = variables.map { "\($0.key)=\($0.value)" }
        } else {
            var next = unsafe environ
            while let entry = unsafe next.pointee {
                entries.append(unsafe String(cPath: entry))
                unsafe next += 1
            }
        }
        return entries.filter { isWanted(String($0.prefix { $0 != "=" })) }
    }

    /// The account's own home when HOME is not usable.
    package static var home: String {
        if let home = self["HOME"], home.hasPrefix("/") { return home }
        let account = unsafe getpwuid(geteuid())
        let home = unsafe account.flatMap { unsafe $0.pointee.pw_dir }
        return unsafe home.map { unsafe String(cPath: $0) } ?? "/nonexistent"
    }

    /// Our folder, or another, below the one that a variable names, or below one of the person's home.
    ///
    /// A relative value is ignored, as the XDG Base Directory Specification demands.
    package static func folder(
        _ variable: String, orBelowHome usual: String, of name: String = "utter"
    ) -> String {
        if let folder = self[variable], folder.hasPrefix("/") { return "\(folder)/\(name)" }
        return "\(home)\(usual)/\(name)"
    }
}

package enum ProcessLimits {
    package static func areDescriptorsLeft(_ count: Int) -> Bool {
        let descriptors = (0..<count).map { _ in dup(STDERR_FILENO) }
        for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
        return descriptors.allSatisfy { $0 >= 0 }
    }

    /// In bytes; nil without a limit.
    package static var addressSpace: Int? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0,
            limit.rlim_cur != rlim_t.max
        else { return nil }
        return Int(clamping: limit.rlim_cur)
    }
}

/// The dump of all memory that the system writes to the disk when this process crashes.
package enum CoreDumps {
    /// Forbids them, and with them every other process to look into this one's memory.
    ///
    /// For a program alone, since it is for all of the process and cannot be undone.
    package static func forbid() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        // Lowering a limit cannot fail.
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        _ = utter_forbid_dumps()
    }
}
