// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import LinuxPlatform
import Testing

@testable import TakeStore

/// A new folder for one test, removed with everything in it.
final class TakeStoreScratch: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/utter-store-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    func folder(_ name: String = "folder") throws -> Folder {
        try Folder.make(at: path + "/" + name)
    }

    /// The permission bits of an entry.
    func mode(_ name: String) throws -> mode_t {
        var status = stat()
        try #require(lstat(path + "/" + name, &status) == 0)
        return status.st_mode & 0o7777
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        let file = open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        try writeAll(bytes.span, to: file, at: 0)
    }

    func read(_ name: String) throws -> [UInt8] {
        let file = open(path + "/" + name, O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }

    private static func remove(_ path: String) {
        // A folder that stays under /tmp spoils no test.
        try? FileManager.default.removeItem(atPath: path)
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

    /// What one read of at most `limit` bytes says.
    func look(at offset: Int, limit: Int = 4_096) throws -> Read {
        var buffer = [UInt8](repeating: 0, count: limit)
        return try buffer.withUnsafeMutableBytes { try read(at: offset, into: $0) }
    }
}

/// SplitMix64.
struct TakeStoreRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}

/// A file that is open for reading and writing and has no name.
func makeNamelessFile() throws -> OwnedDescriptor {
    var template = Array("/tmp/utter-file-XXXXXX".utf8CString)
    let number = mkstemp(&template)
    try #require(number >= 0)
    unlink(template)
    return OwnedDescriptor(taking: number)
}
