// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform

@Suite struct ChildProcessTests {
    /// Other threads open files all the time, and get the numbers that have just been closed.
    @Test func whatAProgramIsGivenIsNeverAnotherThreadsFile() async throws {
        let copied = try await besideReusedNumbers {
            try (0..<50).map { try Self.copied(Array("\($0)\n".utf8)) }
        }
        #expect(copied == (0..<50).map { "\($0)\n" })
    }

    @Test func aProgramThatIsGivenNothingReadsTheEndAtOnce() async throws {
        let status = try await onOwnThread {
            Result { () throws(SystemError) -> Int32? in
                var process = try ChildProcess("/bin/cat", ["cat"], environment: [])
                return try process.status(by: .now + .patience)
            }
        }.get()
        #expect(status == 0)
    }

    @Test func anEndThatWasGivenIsOpenInTheProgramAlone() async throws {
        let ends = try makePipe()
        let reading = OwnedDescriptor(taking: ends.reading)
        let status = try await onOwnThread {
            Result { () throws(SystemError) -> Int32? in
                var process = try ChildProcess(
                    "/bin/sh", ["sh", "-c", "exit 3"], environment: [],
                    output: .given(OwnedDescriptor(taking: ends.writing)))
                return try process.status(by: .now + .patience)
            }
        }.get()
        #expect(status == 3 << 8)
        // With an end open here this would wait for ever.
        var byte: UInt8 = 0
        #expect(waitUntilReadable(reading.number, by: .now + .patience))
        #expect(read(reading.number, &byte, 1) == 0)
    }

    /// What `cat` makes of bytes in a pipe.
    private static func copied(_ bytes: [UInt8]) throws(SystemError) -> String {
        let ends = try makePipe()
        let output = try makeMemoryFile()
        _ = write(ends.writing, bytes, bytes.count)
        close(ends.writing)
        var process = try ChildProcess(
            "/bin/cat", ["cat"], environment: [],
            input: .given(OwnedDescriptor(taking: ends.reading)),
            output: .given(output.duplicate()))
        let status = try process.status(by: .now + .patience)
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = pread(output.number, &buffer, buffer.count, 0)
        guard status == 0 else { return "status \(status ?? -1)" }
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
