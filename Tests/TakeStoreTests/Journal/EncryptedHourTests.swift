// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Cryptography
@testable import LinuxPlatform
@testable import TakeStore

/// An hour of 10 ms appends, encrypted and not.
@Suite struct EncryptedHourTests {
    private static let appends = 360_000
    private static let size = 320

    @Test(.enabled(if: getenv("UTTER_SOAK") != nil, "takes a quarter of a gigabyte"))
    func anHourNeedsLittleMemoryAndTime() throws {
        let scratch = try TemporaryFolder()
        let folder = try scratch.folder()
        let key = try EncryptionKey(bytes: Array(1...32))
        let id = try #require(TakeID("20261121-052233-k3f9q2m7x4tz"))
        let plain = try measure(PlainFile(try folder.createFile("plain")))
        let before = residentBytes
        let file = try EncryptedFile(
            new: PlainFile(try folder.createFile("encrypted")), key: key, take: id.text)
        let encrypted = try measure(file)
        let after = residentBytes
        #expect(after - before < 4 << 20)
        print("append \(plain.append) plain, \(encrypted.append) encrypted")
        print("tail read \(plain.tail) plain, \(encrypted.tail) encrypted")
        print("read again \(plain.again) plain, \(encrypted.again) encrypted")
        print("memory \(after - before) bytes")
        let clock = ContinuousClock()
        let size = try folder.byteCount(of: "encrypted")
        let opening = try clock.measure {
            let opened = try EncryptedFile.open(
                PlainFile(try folder.openFile("encrypted")), size: size, key: key, take: id.text)
            #expect(opened.audioByteCount == Self.appends * Self.size)
            #expect(opened.damage == [])
        }
        print("open and check \(opening)")
        #expect(residentBytes - after < 4 << 20)
    }

    /// Appends an hour, and reads each append as soon as it is there, then all of it.
    private func measure(
        _ file: some JournalFile
    ) throws -> (append: Duration, tail: Duration, again: Duration) {
        let clock = ContinuousClock()
        var bytes = [UInt8](repeating: 0, count: Self.size)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var (append, tail) = (Duration.zero, Duration.zero)
        for index in 0..<Self.appends {
            bytes[index % Self.size] &+= 1
            append += try clock.measure { try file.write(bytes.span, at: index * Self.size) }
            tail += try clock.measure {
                _ = try buffer.withUnsafeMutableBytes {
                    try file.read(at: index * Self.size, into: $0)
                }
            }
            try #require(buffer[..<Self.size].elementsEqual(bytes))
        }
        let again = try clock.measure {
            var offset = 0
            while offset < Self.appends * Self.size {
                offset += try buffer.withUnsafeMutableBytes { try file.read(at: offset, into: $0) }
            }
            #expect(offset == Self.appends * Self.size)
        }
        return (append / Self.appends, tail / Self.appends, again)
    }

    private var residentBytes: Int {
        let pages = (try? readText("/proc/self/statm"))?.split(separator: " ")  // Always there.
        return (pages.flatMap { Int($0[1]) } ?? 0) * 4_096
    }

    private func readText(_ path: String) throws -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
