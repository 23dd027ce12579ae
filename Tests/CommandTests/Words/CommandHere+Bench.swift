// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

@testable import LinuxPlatform
@testable import UtterCommands

extension Bench {
    /// Runs `utter` in the process of the test: a command that starts no take and no server.
    func here(_ words: String...) async throws -> CommandHere { try await here(words) }

    func here(_ words: [String], output place: String? = nil) async throws -> CommandHere {
        try await CommandHere.run(["utter"] + words, environment, below: folder.path, output: place)
    }

    /// Does a part of a command, with the settings and the variables that it would have here.
    func within<Value>(
        _ variables: [String: String] = [:], _ body: () throws -> Value
    ) throws -> Value {
        let start = ProgramStart(
            words: ["utter"], variables: environment.merging(variables) { $1 }, input: STDIN_FILENO,
            output: STDOUT_FILENO, error: STDERR_FILENO)
        return try ProgramStart.$current.withValue(start) {
            try KnownConfiguration.$current.withValue(KnownConfiguration()) { try body() }
        }
    }
}
