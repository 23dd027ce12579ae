// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// A file in the memory of this process, for what no disk takes.
///
/// Not a `memfd_create(2)`: the limit of a file's size (`RLIMIT_FSIZE`) holds for that, too, and a
/// process without descriptors cannot have one.
final class MemoryFile: JournalFile {
    /// Small enough to be copied while somebody waits for the lock.
    private static let pieceSize = 64 << 10

    /// All but the last are full.
    private let pieces = Mutex<[[UInt8]]>([])

    func write(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let place = offset + written
            let count = min(bytes.count - written, Self.pieceSize - place % Self.pieceSize)
            let part = bytes.extracting(written..<written + count)
            pieces.withLock { pieces in
                if place / Self.pieceSize == pieces.count { pieces.append([]) }
                let last = place / Self.pieceSize
                // What stands there is left of a write that is repeated.
                pieces[last].removeSubrange((place % Self.pieceSize)...)
                for index in part.indices { pieces[last].append(part[index]) }
            }
            written += count
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
