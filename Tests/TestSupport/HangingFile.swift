// SPDX-License-Identifier: Apache-2.0

/// A file that hangs as one on a dead network disk does: opening it blocks in the kernel until
/// `release`.
///
/// See Tests/HangingFile/hangingfile.c.
package final class HangingFile: Sendable {
    private let run: CommandRun

    /// Whether this machine lets a test do so; it takes root.
    package static let isPossible: Bool = {
        // Where it cannot be compiled or is not allowed, it is not possible either.
        (try? ForeignTool(try program.get()).run([try program.get()])) != nil
    }()

    /// Makes a file hang.
    package init(_ path: String) async throws {
        run = try CommandRun(try Self.program.get(), [path], input: .pipe)
        guard await run.wait(for: "watching", in: .output) else {
            throw ForeignTool.Failure(description: "\(path) cannot be watched")
        }
    }

    /// Waits until a thread is blocked in opening it.
    ///
    /// - Returns: false when none is within a while.
    package func isBlocking() async -> Bool { await run.wait(for: "blocked", in: .output) }

    package func release() { run.closeInput() }

    private static let program = Result {
        let program = try TemporaryFolder.forProcess().path("hangingfile")
        try ForeignTool.compile("HangingFile/hangingfile.c", into: program, "-Wall", "-Werror")
        return program
    }
}
