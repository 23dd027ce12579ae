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

    /// What one read of at most `limit` bytes says.
    func look(at offset: Int, limit: Int = 4_096) throws -> Read {
        var buffer = [UInt8](repeating: 0, count: limit)
        return try buffer.withUnsafeMutableBytes { try read(at: offset, into: $0) }
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
