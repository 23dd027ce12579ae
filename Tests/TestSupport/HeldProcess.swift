// SPDX-License-Identifier: Apache-2.0

/// A process whose parent cannot reap it until `release`, whatever kills it.
///
/// See Tests/HeldProcess/heldprocess.c.
package final class HeldProcess: Sendable {
    private let run: CommandRun
    private let folder: TemporaryFolder

    /// Holds a process.
    package init(_ number: Int32) async throws {
        folder = try TemporaryFolder()
        let program = folder.path("heldprocess")
        try ForeignTool.compile("HeldProcess/heldprocess.c", into: program, "-Wall", "-Werror")
        run = try CommandRun(program, ["\(number)"], input: .pipe)
        guard await run.wait(for: "held", in: .output) else {
            throw ForeignTool.Failure(description: "process \(number) cannot be traced")
        }
    }

    package func release() { run.closeInput() }
}
