// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// A file that holds the bytes of a take encrypted with AES-256-GCM, one frame an append.
///
/// It begins with a header, as `EncryptedFileHeader` says; each append becomes a frame, as
/// `FrameHeader` says, or several, each in one block of `FrameLayout`. A frame is in the file when
/// the append returns. The key is the file's own and random, and no nonce is used twice with it: a write
/// that failed uses its number up, and nothing is ever appended to a file that was opened again.
package final class EncryptedFile: JournalFile {
    private let file: any JournalFile
    private let key: Mutex<[UInt8]>
    private let writer: FrameWriter?
    private let map: FrameMap
    /// In bytes of the file.
    private let end: Atomic<Int>
    private let readers: Mutex<[FrameReader]>
    /// Found in a file of an earlier run.
    package let audioByteCount: Int
    package let isFinished: Bool

    package init(new file: any JournalFile, key: EncryptionKey, take: String) throws(SystemError) {
        var fileKey = [UInt8].random(AESGCM.keyByteCount)
        defer { fileKey.clear() }
        let header = try EncryptedFileHeader.bytes(wrapping: fileKey, under: key, take: take)
        try file.write(header.span, at: 0)
        self.file = file
        writer = try FrameWriter(file, key: fileKey)
        map = FrameMap()
        end = Atomic(header.count)
        readers = Mutex([])
        // A copy of its own, which the line above does not clear.
        self.key = Mutex(fileKey.map { $0 })
        audioByteCount = 0
        isFinished = false
    }

    private init(_ file: any JournalFile, key: [UInt8], _ reader: FrameReader, _ scan: FrameScan) {
        self.file = file
        writer = nil
        map = scan.map
        end = Atomic(scan.end.file)
        readers = Mutex([reader])
        self.key = Mutex(key.map { $0 })
        audioByteCount = scan.end.audio
        isFinished = scan.isMarked
    }

    deinit { key.withLock { $0.clear() } }

    /// Opens a file of an earlier run for reading, and checks every frame; blocks on the disk.
    ///
    /// - Throws: `EncryptionError` when nothing can be read.
    package static func open(
        _ file: any JournalFile, size: Int, key: EncryptionKey, take: String
    ) throws(EncryptionError) -> EncryptedFile {
        var header = [UInt8](repeating: 0, count: EncryptedFileHeader.byteCount)
        let found = unsafe header.withUnsafeMutableBytes { bytes in
            Result { () throws(SystemError) in unsafe try file.read(at: 0, into: bytes) }
        }.mapError { EncryptionError.system($0) }
        guard try found.get() == header.count else { throw .damaged }
        var fileKey = try EncryptedFileHeader.read(header, under: key, take: take)
        defer { fileKey.clear() }
        do throws(SystemError) {
            let reader = try FrameReader(file, key: fileKey)
            return EncryptedFile(
                file, key: fileKey, reader, try FrameScan(reader, size: size))
        } catch {
            throw .system(error)
        }
    }

    package var damage: [Range<Int>] { map.damage.map(\.lost).filter { !$0.isEmpty } }

    /// The end of the last intact frame in the file; bytes behind it count for nothing.
    package var fileByteCount: Int { end.load(ordering: .acquiring) }

    package func write(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError) {
        guard let writer, offset <= writer.end.audio else {
            throw SystemError(call: "write", code: EINVAL)
        }
        // A repeated row of writes begins with bytes that may be there already.
        let known = writer.end.audio - offset
        guard known < bytes.count else { return }
        try writer.append(bytes.extracting(droppingFirst: known))
        // releasing: partner of the acquire in `fileByteCount`.
        end.store(writer.end.file, ordering: .releasing)
    }

    package func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        let end = fileByteCount
        if let loss = map.loss(at: offset) {
            let count = min(buffer.count, loss.upperBound - offset)
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            unsafe part.initializeMemory(as: UInt8.self, repeating: 0)
            return count
        }
        let idle = readers.withLock { $0.popLast() }
        let reader: FrameReader
        if let idle { reader = idle } else { reader = try makeReader() }
        defer { readers.withLock { $0.append(reader) } }
        let stretch = map.stretch(at: offset)
        return unsafe try reader.read(
            at: offset, from: stretch.start, end: stretch.end ?? end, into: buffer)
    }

    private func makeReader() throws(SystemError) -> FrameReader {
        var fileKey = key.withLock { $0.map { $0 } }
        defer { fileKey.clear() }
        return try FrameReader(file, key: fileKey)
    }

    package var descriptor: Int32? { file.descriptor }
    package func sync() throws(SystemError) { try file.sync() }
    package func reserve(_ byteCount: Int) throws(SystemError) { try file.reserve(byteCount) }
    package func isGone() throws(SystemError) -> Bool { try file.isGone() }

    /// Also writes the mark of the end.
    package func trim() throws(SystemError) {
        try writer?.finish()
        try file.trim()
    }
}
