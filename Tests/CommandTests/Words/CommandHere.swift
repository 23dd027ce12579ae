// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import UtterCommands

/// What `utter` has printed in the process of the test, and how it ended.
struct CommandHere {
    let status: CommandResult.Status
    let output: [UInt8]
    let error: [UInt8]

    var outputText: String { String(decoding: output, as: UTF8.self) }

    var errorText: String { String(decoding: error, as: UTF8.self) }

    /// The thread on which it runs, one command after the other.
    private static let lane = Result {
        let lane = try ThreadExecutor()
        _ = try NamedThread(name: "words") { lane.run() }
        return lane
    }

    /// Runs a command that starts no take and no server.
    ///
    /// It must leave the process as it was, with no file open below the folder. Without a time,
    /// which is in seconds since 1970, the system's clock is asked. Output at a place is not read.
    static func run(
        _ words: [String], _ variables: [String: String], below folder: String,
        input source: String = "/dev/null", output place: String? = nil, time: Double? = nil
    ) async throws -> CommandHere {
        // They would become another program, and the tests with them.
        let others = Set(["serve", "demo", "keys", "fleet", "edit"])
        try #require(others.isDisjoint(with: words.dropFirst().prefix(2)), "exec \(words)")
        let files = try TemporaryFolder()
        let (outputPath, errorPath) = (files.path("output"), files.path("error"))
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
        let input = try OwnedDescriptor(of: source) { open(source, O_RDONLY | O_CLOEXEC) }
        let output = try OwnedDescriptor(of: "output") { open(place ?? outputPath, flags, 0o600) }
        let error = try OwnedDescriptor(of: "error") { open(errorPath, flags, 0o600) }
        let start = ProgramStart(
            words: words, variables: variables, input: input.number, output: output.number,
            error: error.number, time: time)
        let (status, changes) = try await withTaskExecutorPreference(lane.get()) {
            // A command that does not end would hold up all behind it, and no test would be named.
            let watch = Task<Void, any Error>.detached {
                try await Task.sleep(for: .patience)
                preconditionFailure("\(words) does not end")
            }
            defer { watch.cancel() }
            // A command that reads signals, as takes do, would block this one.
            _ = SignalMask.change(SIG_UNBLOCK, [SIGTSTP])
            let before = try globals(below: folder)
            let status = await Program.status(of: UtterCommand.self, startedBy: start)
            return (status, try globals(below: folder).symmetricDifference(before))
        }
        #expect(changes == [], "\(words) has left the process changed")
        withExtendedLifetime((start, input.number, output.number, error.number)) {}
        return CommandHere(
            status: .exited(status), output: place == nil ? try files.read("output") : [],
            error: try files.read("error"))
    }

    /// The state that threads share; of the files those below a folder, since other tests run, too.
    private static func globals(below folder: String) throws -> Set<String> {
        // Another test sets this one.
        var all = Set(Environment.all { $0 != "ALSA_CONFIG_PATH" })
        let status = String(decoding: try readFile("/proc/thread-self/status"), as: UTF8.self)
        all.formUnion(status.matches(of: /(Umask|SigBlk):.*/).map { String($0.0) })
        let files = try Folder.names(at: "/proc/self/fd").compactMap {
            "/proc/self/fd/\($0)".resolvedPath
        }
        all.formUnion(files.filter { $0.hasPrefix(folder) })
        return all.union(["working folder \("/proc/self/cwd".resolvedPath ?? "")"])
    }
}
