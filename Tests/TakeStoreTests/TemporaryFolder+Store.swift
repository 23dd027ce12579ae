// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import TakeStore

extension TemporaryFolder {
    func folder(_ name: String = "folder") throws -> Folder { try Folder.make(at: path(name)) }

    /// The permission bits of an entry.
    func mode(_ name: String) throws -> mode_t {
        var status = stat()
        try #require(lstat(path(name), &status) == 0)
        return status.st_mode & 0o7777
    }
}

extension Journal {
    /// Everything from `offset` on that can be read now.
    func contents(from offset: Int = 0) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let found = try buffer.withUnsafeMutableBytes {
                try read(at: offset + bytes.count, into: $0)
            }
            guard case .bytes(let count) = found else { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// Appends bytes in pieces of random size.
    func append(_ bytes: [UInt8], upTo limit: Int, _ random: inout SeededRandom) throws {
        var offset = 0
        while offset < bytes.count {
            let count = min(Int.random(in: 1...limit, using: &random), bytes.count - offset)
            try append(bytes.span.extracting(offset..<offset + count))
            offset += count
        }
    }

    /// What one read of at most `limit` bytes says.
    func look(at offset: Int, limit: Int = 4_096) throws -> Read {
        var buffer = [UInt8](repeating: 0, count: limit)
        return try buffer.withUnsafeMutableBytes { try read(at: offset, into: $0) }
    }
}

/// A file that is open for reading and writing and has no name.
func makeNamelessFile() throws -> OwnedDescriptor {
    let scratch = try TemporaryFolder()
    defer { withExtendedLifetime(scratch) {} }
    return try scratch.folder().createFile("file")
}

/// Waits until a wake-up was signalled; false after `Duration.patience`.
func takeStoreWait(for wakeup: Wakeup) -> Bool {
    var descriptor = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
    let limit = Int32(Duration.patience.components.seconds) * 1_000
    let count = poll(&descriptor, 1, limit)
    if count == 1 { wakeup.drain() }
    return count == 1
}

/// Threads that read a journal to its end while it grows, and compare what they get.
final class JournalReaders: Sendable {
    private let threads: [NamedThread]
    private let found: Observed<[String]>

    /// Starts to read, each with a buffer of another size; `bytes` are what should be there.
    init(of journal: Journal, expecting bytes: [UInt8], count: Int = 3) throws {
        let found = Observed([String]())
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
        return found.value
    }

    private static func follow(
        _ journal: Journal, _ bytes: [UInt8], bufferSize: Int, _ found: Observed<[String]>
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
                    return found.update { $0.append("wrong bytes at \(offset)") }
                }
                offset += count
            // The writer needs no longer than the test has steps.
            case .success(.nothingYet): sched_yield()
            case .success(.end):
                if offset != bytes.count { found.update { $0.append("end at \(offset)") } }
                return
            case .failure(let error): return found.update { $0.append("\(error) at \(offset)") }
            }
        }
    }
}
