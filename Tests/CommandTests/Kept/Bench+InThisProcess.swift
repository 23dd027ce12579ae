// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxPlatform
import TestSupport

@testable import UtterCommands

/// What a command has printed that ran in the process of the test, and how it has ended.
struct HereResult {
    let status: CommandResult.Status
    let output: [UInt8]
    let errorText: String

    var outputText: String { String(decoding: output, as: UTF8.self) }
}

extension Bench {
    /// Does in the process of the test what `utter` would do here, with more variables; it may start
    /// no take.
    func inThisProcess(
        _ variables: [String: String] = [:], _ body: () throws -> Void
    ) throws {
        let start = ProgramStart(
            words: [], variables: environment.merging(variables) { $1 }, input: STDIN_FILENO,
            output: STDOUT_FILENO, error: STDERR_FILENO)
        try ProgramStart.$current.withValue(start) {
            try KnownConfiguration.$current.withValue(KnownConfiguration()) { try body() }
        }
    }

    /// The thread on which `utter` runs here, one command after the other.
    private static let lane = Result {
        let lane = try ThreadExecutor()
        _ = try NamedThread(name: "utter-here") { lane.run() }
        return lane
    }

    /// Runs a command about takes, keys or settings, as `run` does in a process of its own: it may
    /// start no take and no other program, and read no signal.
    func runHere(_ words: String...) async throws -> HereResult { try await runHere(words) }

    func runHere(_ words: [String]) async throws -> HereResult {
        let (folder, flags) = (try TemporaryFolder(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC)
        let input = try OwnedDescriptor(of: "open") { open("/dev/null", O_RDONLY | O_CLOEXEC) }
        let output = try OwnedDescriptor(of: "open") { open(folder.path("output"), flags, 0o600) }
        let error = try OwnedDescriptor(of: "open") { open(folder.path("error"), flags, 0o600) }
        let start = ProgramStart(
            words: ["utter"] + words, variables: environment, input: input.number,
            output: output.number, error: error.number)
        let status = try await withTaskExecutorPreference(Self.lane.get()) {
            await Program.status(of: UtterCommand.self, startedBy: start)
        }
        withExtendedLifetime((start, input.number, output.number, error.number)) {}
        return HereResult(
            status: .exited(status), output: try folder.read("output"),
            errorText: String(decoding: try folder.read("error"), as: UTF8.self))
    }
}
