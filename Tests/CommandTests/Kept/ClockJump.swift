// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A wall clock that the test sets, as programs with `environment` see it; the library of
/// `Tests/ClockJump/clockjump.c`.
final class ClockJump: Sendable {
    static let tenYears = 315_576_000

    private let folder: TemporaryFolder
    /// What a program needs in its environment to have it.
    let environment: [String: String]

    /// Compiled once for all tests.
    private static let library = Result {
        let library = try TemporaryFolder.forProcess().path("clockjump.so")
        try ForeignTool("cc").run([
            "-shared", "-fPIC", "-D_GNU_SOURCE", "-O1", "-o", library,
            SourceTree.path("Tests/ClockJump/clockjump.c"), "-ldl",
        ])
        return library
    }

    init() throws {
        folder = try TemporaryFolder()
        environment = [
            "LD_PRELOAD": try Self.library.get(),
            "UTTER_TEST_CLOCK": try folder.write(Self.bytes(0), to: "clock"),
        ]
    }

    /// Sets the clock to so many seconds from the right time.
    func jump(to seconds: Int) throws {
        // In place: it is mapped.
        let file = open(folder.path("clock"), O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        try #require(pwrite(file, Self.bytes(seconds), 8, 0) == 8)
    }

    private static func bytes(_ seconds: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: seconds >> (8 * $0)) }
    }
}

extension Bench {
    /// Has the clock look as if the machine had been off since it was seen last.
    ///
    /// While it runs, a jump of the clock makes nothing older.
    func restartMachine() throws {
        let words = String(decoding: try folder.read("state/utter/clock"), as: UTF8.self)
            .split(separator: " ")
        try folder.write(
            Array("\(words[0]) \(words[1]) 0 another\n".utf8), to: "state/utter/clock")
    }
}
