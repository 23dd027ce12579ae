// SPDX-License-Identifier: Apache-2.0

@testable import Cryptography
@testable import LinuxPlatform

/// An encrypted file in memory, whose bytes can be altered.
struct EncryptedFileScratch {
    let key: EncryptionKey
    let take: String

    init() throws {
        key = try EncryptionKey(bytes: Array(1...32))
        take = "20261121-052233-k3f9q2m7x4tz"
    }

    /// The bytes of a file of these appends, with the mark of its end.
    func bytes(of appends: [[UInt8]], isFinished: Bool = true) throws -> [UInt8] {
        let plain = PlainFile(try makeNamelessFile())
        let file = try EncryptedFile(new: plain, key: key, take: take)
        var offset = 0
        for append in appends {
            try file.write(append.span, at: offset)
            offset += append.count
        }
        if isFinished { try file.trim() }
        return try plain.contents(from: 0)
    }

    /// Opens a file of these bytes.
    func open(
        _ bytes: [UInt8], key: EncryptionKey? = nil, take: String? = nil
    ) throws -> EncryptedFile {
        let plain = PlainFile(try makeNamelessFile())
        try plain.write(bytes.span, at: 0)
        return try EncryptedFile.open(
            plain, size: bytes.count, key: key ?? self.key, take: take ?? self.take)
    }
}

extension JournalFile {
    /// Everything from an offset on, read in pieces of at most `limit` bytes.
    func contents(from offset: Int = 0, limit: Int = 4_096) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let piece = try piece(at: offset + bytes.count, limit)
            if piece.isEmpty { return bytes }
            bytes += piece
        }
    }

    func piece(at offset: Int, _ limit: Int) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0xEE, count: limit)
        let count = try buffer.withUnsafeMutableBytes { try read(at: offset, into: $0) }
        return Array(buffer[..<count])
    }
}
