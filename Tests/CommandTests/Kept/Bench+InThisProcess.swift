// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxPlatform
import TestSupport

@testable import UtterCommands

extension Bench {
    /// Does in the process of the test what `utter` would do here, with more variables; it may start no
    /// take.
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
}
