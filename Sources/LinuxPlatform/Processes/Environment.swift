// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// The process's environment; read by commands only, and never by the library, but for the variables
/// that name a proxy.
package enum Environment {
    /// The words of the command line, of which those that are paths need not be UTF-8.
    package static let words = (0..<Int(CommandLine.argc)).compactMap { index in
        unsafe CommandLine.unsafeArgv[index].map { unsafe String(cPath: $0) }
    }

    package static subscript(name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cPath: $0) }
    }

    /// The value of a variable; nil when it is empty or not set.
    package static subscript(filled name: String) -> String? {
        self[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// As "NAME=value".
    package static func all(where isWanted: (String) -> Bool) -> [String] {
        var entries: [String] = []
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            entries.append(unsafe String(cPath: entry))
            unsafe next += 1
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
