// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

@testable import LinuxPlatform
@testable import TakeStore

/// Threads that read a journal to its end while it grows, and compare what they get.
final class JournalReaders: Sendable {
    private let threads: [NamedThread]
    private let found: Found

    private final class Found: Sendable {
        let problems = Mutex<[String]>([])

        func note(_ problem: String) { problems.withLock { $0.append(problem) } }
    }

    /// Starts to read, each with a buffer of another size; `bytes` are what should be there.
    init(of journal: Journal, expecting bytes: [UInt8], count: Int = 3) throws {
        let found = Found()
        self.found = found
        threads = try (0..<count).map { number in
            try NamedThread(name: "reader") {
                Self.follow(journal, bytes, bufferSize: 500 + number * 7_777, found)
            }
        }
    }

    /// What went wrong, once all have come to the journal's end.
    func problems() -> [String] {
        for thread in threads { thread.join() }
        return found.problems.withLock { $0 }
    }

    private static func follow(
        _ journal: Journal, _ bytes: [UInt8], bufferSize: Int, _ found: Found
    ) {
        var buffer = [UInt8](repeating: 0, count: bufferSize)
        var offset = 0
        while true {
            let read = Result {
                try buffer.withUnsafeMutableBytes { try journal.read(at: offset, into: $0) }
            }
            switch read {
            case .success(.bytes(let count)):
                guard buffer[..<count] == bytes[offset..<offset + count] else {
                    return found.note("wrong bytes at \(offset)")
                }
                offset += count
            // The writer needs no longer than the test has steps.
            case .success(.nothingYet): sched_yield()
            case .success(.end):
                if offset != bytes.count { found.note("end at \(offset)") }
                return
            case .failure(let error): return found.note("\(error) at \(offset)")
            }
        }
    }
}
