// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import Glibc
package import LinuxPlatform

extension Journal {
    /// Makes a sealed journal in memory.
    ///
    /// - Parameter next: appends the next bytes, and returns false after the last.
    /// - Returns: a journal that can only be read.
    /// - Throws: what `next` throws; `SystemError` when it is more than one take may have in memory.
    package static func inMemory(
        from next: (_ bytes: inout [UInt8]) throws -> Bool
    ) throws -> Journal {
        let journal = Journal()
        var bytes: [UInt8] = []
        var goesOn = true
        while goesOn {
            bytes.removeAll(keepingCapacity: true)
            goesOn = try next(&bytes)
            try journal.append(bytes.span)
        }
        journal.seal()
        return journal
    }

    /// Writes everything to a new file that its owner alone can read, durably.
    ///
    /// Blocks on the disk.
    ///
    /// - Throws: `SystemError`; `EEXIST` when there is such a file.
    package func export(to path: String) throws(SystemError) {
        let number = try retryingInterrupts("open \(path)") {
            unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        }
        let file = PlainFile(OwnedDescriptor(taking: number))
        try copy(to: file, from: 0, to: byteCount)
        try file.sync()
    }

    /// Reads everything in a sealed journal.
    ///
    /// Blocks on the disk.
    package func contents() throws(SystemError) -> [UInt8] {
        var all: [UInt8] = []
        all.reserveCapacity(byteCount)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let found = try buffer.read(from: self, at: all.count)
            guard found > 0 else { return all }
            all.append(contentsOf: buffer[..<found])
        }
    }

    /// Computes the SHA-256 of a sealed journal, as 64 hexadecimal digits.
    ///
    /// Reads all of it: blocks on the disk.
    package func sha256() throws(SystemError) -> String {
        var digest = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var offset = 0
        while true {
            let found = try buffer.read(from: self, at: offset)
            guard found > 0 else { break }
            digest.update(buffer.span.extracting(first: found))
            offset += found
        }
        return digest.hexadecimal
    }
}

extension [UInt8] {
    /// Reads at most `limit` bytes from a journal to the start of this array.
    ///
    /// Returns 0 when there are none.
    mutating func read(
        from journal: Journal, at offset: Int, limit: Int = .max
    ) throws(SystemError) -> Int {
        let found = unsafe withUnsafeMutableBytes { bytes in
            Result { () throws(SystemError) in
                unsafe try journal.read(
                    at: offset,
                    into: UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(limit)))
            }
        }
        if case .bytes(let count) = try found.get() { return count }
        return 0
    }
}
