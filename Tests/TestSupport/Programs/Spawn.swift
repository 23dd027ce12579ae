// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import LinuxPlatform

/// The start of a program with `posix_spawnp(3)`.
enum Spawn {
    /// `POSIX_SPAWN_SETSID` of <spawn.h>, which is visible with _GNU_SOURCE only.
    private static let newSession = 0x80

    /// Starts a program in a session of its own, with no signal blocked or ignored.
    ///
    /// - Parameters:
    ///   - words: the program, which is looked for on `PATH`, and its arguments.
    ///   - environment: all of it; nil for that of this process.
    ///   - files: says what its descriptors are.
    /// - Returns: the process.
    /// - Throws: `SystemError`.
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
