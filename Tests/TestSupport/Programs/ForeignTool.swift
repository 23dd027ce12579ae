// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import LinuxPlatform

/// A program of the system that tests compare ours with, such as sox; found on `PATH`.
package struct ForeignTool: Sendable {
    package let name: String

    /// Names a program; it is looked for when it is run.
    package init(_ name: String) {
        self.name = name
    }

    /// Where it is; nil when it is nowhere on `PATH`.
    package var path: String? {
        (Environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
            .first { access($0, X_OK) == 0 }
    }

    package struct Result: Sendable {
        /// The exit status, or 128 and the signal's number.
        package let status: Int32
        package let output: [UInt8]
        /// Standard error, and standard output when a test prints it.
        package let complaint: String

        package var text: String { String(decoding: output, as: UTF8.self) }

        /// Standard output as 16-bit samples.
        package var samples: [Int16] {
            (0..<output.count / 2).map {
                Int16(truncatingIfNeeded: Int(output[2 * $0]) | Int(output[2 * $0 + 1]) << 8)
            }
        }
    }

    /// Why a program could not do what the test needs.
    package struct Failure: Error, CustomStringConvertible {
        /// What could not be done, and what the program said.
        package let description: String
    }

    /// Runs the program to its end, for as long as tests are patient; its status must be 0.
    @discardableResult
    package func run(_ arguments: [String], input: [UInt8] = []) throws -> Result {
        let folder = try TemporaryFolder()
        let inputPath = try folder.write(input, to: "input")
        let outputPath = folder.path("output")
        let complaintPath = folder.path("complaint")
        let limit = "\(Duration.patience.components.seconds)"
        let words = ["timeout", limit, name] + arguments
        let creating = O_WRONLY | O_CREAT | O_TRUNC
        let child = try Spawn.start(words) { actions in
            posix_spawn_file_actions_addopen(&actions, 0, inputPath, O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 1, outputPath, creating, 0o600)
            posix_spawn_file_actions_addopen(&actions, 2, complaintPath, creating, 0o600)
        }

        var state: Int32 = 0
        try retryingInterrupts("waitpid") { waitpid(child, &state, 0) }
        let status = state & 0x7F == 0 ? state >> 8 & 0xFF : 128 + state & 0x7F
        let complaint = String(decoding: try folder.read("complaint"), as: UTF8.self)
        guard status == 0 else {
            throw Failure(
                description: "\(words.dropFirst(2)) ended with \(status): \(complaint.prefix(500))")
        }
        return Result(status: status, output: try folder.read("output"), complaint: complaint)
    }

    /// Compiles a C file of the folder `Tests`.
    package static func compile(_ source: String, into result: String, _ options: String...) throws
    {
        try ForeignTool("cc").run(
            ["-D_GNU_SOURCE", "-O1", "-o", result, SourceTree.path("Tests/\(source)")] + options)
    }
}
