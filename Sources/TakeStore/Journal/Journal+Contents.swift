// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import Glibc
package import LinuxPlatform
internal import Synchronization

extension Journal {
    /// A sealed journal in memory of what `next` appends, until that returns false.
    ///
    /// - Throws: what `next` throws; `SystemError` beyond one take's memory.
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

    /// Writes everything durably to a new file for the owner alone, with zeros for unreadable
    /// bytes, and `bytes` instead of `count` bytes from `start` on; blocks on the disk.
    ///
    /// - Returns: how many bytes could not be read.
    /// - Throws: `SystemError`; `EEXIST` when there is such a file. An incomplete file is removed.
    package func export(
        to path: String, with bytes: [UInt8] = [], insteadOf count: Int = 0, at start: Int = 0
    ) throws(SystemError) -> Int {
        let number = try retryingInterrupts("open \(path)") {
            unsafe open(path.cPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        }
        let file = makePlainFile(OwnedDescriptor(taking: number))
        do throws(SystemError) {
            var (seen, end) = (0, 0)
            let lost = try readAnyway { piece throws(SystemError) in
                let before = piece.extracting(first: max(0, start - seen))
                let after = piece.extracting(droppingFirst: max(before.count, start + count - seen))
                let isThere = (seen..<seen + piece.count).contains(start)
                try file.write(before, at: end)
                end += before.count
                if isThere { try file.write(bytes.span, at: end) }
                end += isThere ? bytes.count : 0
                try file.write(after, at: end)
                end += after.count
                seen += piece.count
            }
            try file.sync()
            return lost
        } catch {
            // Half a file is only in the way.
            _ = unsafe unlink(path.cPath)
            throw error
        }
    }

    /// Gives everything to `take`, at most 4 KiB at once, with zeros for unreadable bytes; blocks
    /// on the disk.
    ///
    /// - Returns: how many bytes could not be read.
    /// - Throws: what `take` throws, and the reason when nothing could be read.
    @discardableResult
    package func readAnyway(
        _ take: (Span<UInt8>) throws(SystemError) -> Void
    ) throws(SystemError) -> Int {
        let (end, inFile) = (byteCount, state.withLock { $0.memory?.start } ?? byteCount)
        var (offset, lost) = (0, 0)
        var failure: SystemError?
        while offset < end {
            var bytes = [UInt8](repeating: 0, count: min(4_096, end - offset))
            var count: Int
            do throws(SystemError) {
                count = try bytes.read(from: self, at: offset)
            } catch {
                // The bytes in memory begin behind the file.
                count = offset < inFile ? min(bytes.count, inFile - offset) : bytes.count
                lost += count
                failure = failure ?? error
            }
            try take(bytes.span.extracting(first: count))
            offset += count
        }
        if let failure, lost == end { throw failure }
        return lost
    }

    /// All bytes of a sealed journal; blocks on the disk.
    func contents() throws(SystemError) -> [UInt8] {
        var all: [UInt8] = []
        all.reserveCapacity(byteCount)
        try forEachPiece { piece, _ in unsafe piece.withUnsafeBufferPointer { unsafe all += $0 } }
        return all
    }

    /// The digest of a sealed journal, in hexadecimal; reads all of it, and blocks on the disk.
    package func sha256() throws(SystemError) -> String {
        var digest = SHA256()
        try forEachPiece { piece, _ in digest.update(piece) }
        return digest.hexadecimal
    }

    func forEachPiece(
        from start: Int = 0, to end: Int = .max,
        _ take: (Span<UInt8>, _ offset: Int) throws(SystemError) -> Void
    ) throws(SystemError) {
        var buffer = [UInt8](repeating: 0, count: min(end - start, 1 << 16))
        var offset = start
        while offset < end {
            let count = try buffer.read(from: self, at: offset, limit: end - offset)
            guard count > 0 else { return }
            try take(buffer.span.extracting(first: count), offset)
            offset += count
        }
    }
}

extension [UInt8] {
    /// Reads at most `limit` bytes to the start of this array; 0 at the end; blocks on the disk.
    package mutating func read(
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

/// A file in the memory of this process, for what no disk takes.
///
/// Not a `memfd_create(2)`: the limit of a file's size (`RLIMIT_FSIZE`) holds for that, too, and a
/// process without descriptors cannot have one. Bytes are appended only, and no write fails.
final class MemoryFile: JournalFile {
    /// Small enough to be copied while another thread waits for the lock.
    private static let pieceSize = 64 << 10

    /// All but the last are full.
    private let pieces = Mutex<[[UInt8]]>([])

    func write(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let part = pieces.withLock { pieces in
                if pieces.last.map({ $0.count == Self.pieceSize }) ?? true { pieces.append([]) }
                let last = pieces.count - 1
                let part = rest.extracting(first: Self.pieceSize - pieces[last].count)
                unsafe part.withUnsafeBufferPointer { unsafe pieces[last].append(contentsOf: $0) }
                return part.count
            }
            rest = rest.extracting(droppingFirst: part)
        }
    }

    func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        let (number, start) = offset.quotientAndRemainder(dividingBy: Self.pieceSize)
        return pieces.withLock { pieces in
            guard number < pieces.count, start < pieces[number].count else { return 0 }
            let part = pieces[number][start...].prefix(buffer.count)
            unsafe buffer.copyBytes(from: part)
            return part.count
        }
    }

    // Nothing of it outlives the process.
    func sync() throws(SystemError) {}
}
