// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// A file in memory, for what no disk takes.
///
/// Not a `memfd_create(2)`: `RLIMIT_FSIZE` limits that, too, and a process without descriptors
/// cannot have one. Bytes are only appended, and no write fails.
final class MemoryFile: JournalFile {
    /// Copied while another thread waits for the lock.
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
