// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Testing

/// The library of Tests/SlowDisk/slowdisk.c, as one program has it.
package final class SlowDisk: Sendable {
    /// One sync that a program has waited for, or one that is held.
    package struct Sync {
        /// `held` or `late` for one that waits.
        package let call: String
        package let thread: String
        package let path: String
    }

    private let log: String
    private let folder: TemporaryFolder
    /// What a program needs in its environment to have it.
    package let environment: [String: String]

    package enum Fault: String {
        /// Nothing is written to files of takes.
        case full
        /// No room is promised.
        case nearlyFull
        /// No sync succeeds.
        case broken
        /// No sync of a new manifest ends.
        case held
        /// No read of a file `late.wav` ends behind its beginning.
        case late
    }

    /// Makes every sync take `delay` longer.
    package init(delay: Duration = .zero) throws {
        folder = try TemporaryFolder()
        let library = folder.path("slowdisk.so")
        try ForeignTool.compile(
            "SlowDisk/slowdisk.c", into: library, "-shared", "-fPIC", "-ldl")
        log = folder.path("syncs")
        environment = [
            "LD_PRELOAD": library,
            "UTTER_TEST_SYNC_MS": "\(delay.components.seconds * 1_000)",
            "UTTER_TEST_SYNC_LOG": log,
            "UTTER_TEST_DISK": folder.path,
        ]
    }

    package func begin(_ fault: Fault) throws { _ = try folder.write([], to: fault.rawValue) }

    package func end(_ fault: Fault) throws {
        try #require(unlink(folder.path(fault.rawValue)) == 0)
    }

    /// The syncs that have ended, and those that are held.
    package var syncs: [Sync] {
        get throws {
            guard access(log, R_OK) == 0 else { return [] }
            return String(decoding: try readFile(log), as: UTF8.self).split(separator: "\n")
                .compactMap { line in
                    // Between them it says when it began, and when it ended.
                    let words = line.split(separator: " ", maxSplits: 4).map(String.init)
                    guard words.count == 5 else { return nil }
                    return Sync(call: words[0], thread: words[1], path: words[4])
                }
        }
    }
}
