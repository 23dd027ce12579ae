// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import LinuxPlatform
internal import Synchronization

/// The bytes of one take, append-only: written by the journal thread, read by any.
///
/// The journal is the audio file itself. When the disk refuses a write, the take goes on in
/// memory from that byte on: what follows is sent all the same, and `failure` says so. A disk that
/// failed to sync is not trusted again: what it had not confirmed is copied to memory as well.
public final class Journal: Sendable {
    /// Where the bytes are: on disk, and from some offset on perhaps in memory.
    private struct Segment {
        let start: Int
        let file: any JournalFile
    }

    /// The path of the file, or nil when the journal lives in memory only.
    public let path: String?

    private let segments: Mutex<[Segment]>
    private let written = Atomic(0)
    private let durable = Atomic(0)
    private let sealed = Atomic(false)
    private let hasFailedSync = Atomic(false)
    private let firstFailure = Mutex<SystemError?>(nil)

    /// Takes over an empty file.
    ///
    /// - Parameters:
    ///   - file: opened for reading and writing.
    ///   - path: its path, or nil when it is a memory file.
    public convenience init(file: consuming OwnedDescriptor, path: String?) {
        self.init(file: PlainFile(file), path: path)
    }

    /// Takes over an empty file of whatever form, which other readers may share.
    init(file: any JournalFile, path: String?) {
        self.path = path
        segments = Mutex([Segment(start: 0, file: file)])
    }

    /// Opens a sealed journal of an earlier run, of `byteCount` bytes.
    public convenience init(
        sealed file: consuming OwnedDescriptor, byteCount: Int, path: String
    ) {
        self.init(sealed: PlainFile(file), byteCount: byteCount, path: path)
    }

    /// Opens a sealed journal of an earlier run, in a file of whatever form.
    convenience init(sealed file: any JournalFile, byteCount: Int, path: String) {
        self.init(file: file, path: path)
        written.store(byteCount, ordering: .relaxed)
        durable.store(byteCount, ordering: .relaxed)
        sealed.store(true, ordering: .releasing)
    }

    /// Bytes that can be read.
    ///
    /// Grows until the journal is sealed. From any thread.
    public var byteCount: Int {
        // acquiring: partner of the release in `append`.
        written.load(ordering: .acquiring)
    }

    /// Bytes that a power cut leaves on the disk.
    ///
    /// From any thread.
    public var durableByteCount: Int { durable.load(ordering: .relaxed) }

    /// Whether no more bytes will come.
    ///
    /// Once true, `byteCount` is final. From any thread.
    public var isSealed: Bool {
        // acquiring: partner of the release in `seal`.
        sealed.load(ordering: .acquiring)
    }

    /// The first write or sync that failed; from then on the take lives in memory.
    public var failure: SystemError? { firstFailure.withLock { $0 } }

    /// What a read found.
    public enum Read: Sendable, Equatable {
        /// This many bytes, at least one, stand at the start of the buffer.
        case bytes(Int)
        /// The journal has no byte at that offset yet.
        case nothingYet
        /// The journal is sealed and has no byte at that offset.
        case end
    }

    /// Reads from an offset.
    ///
    /// From any thread; does not wait for bytes.
    ///
    /// - Parameters:
    ///   - offset: in bytes from the start.
    ///   - buffer: receives at most its size; must not be empty.
    /// - Returns: what stands at that offset, perhaps less than fits.
    /// - Throws: `SystemError` when the disk fails.
    public func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Read {
        // Asked first: when it is true, the count that is read after it is final.
        let isFinal = isSealed
        let available = byteCount - offset
        guard available > 0 else { return isFinal ? .end : .nothingYet }
        let (file, start, end) = segments.withLock { segments in
            let index = segments.lastIndex { $0.start <= offset } ?? 0
            let next = index + 1 < segments.count ? segments[index + 1].start : Int.max
            return (segments[index].file, segments[index].start, next)
        }
        let wanted = min(available, buffer.count, end - offset)
        let count = unsafe try file.read(
            at: offset - start, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
        // Somebody cut the file from outside.
        guard count > 0 else { throw SystemError(call: "read", code: EIO) }
        return .bytes(count)
    }

    // MARK: - The journal thread

    /// Appends bytes; when the disk refuses, in memory.
    ///
    /// Called on the journal thread.
    ///
    /// - Throws: `SystemError` when not even memory is left.
    func append(_ bytes: Span<UInt8>) throws(SystemError) {
        if hasFailedSync.load(ordering: .relaxed) { try leaveDisk(from: durableByteCount) }
        let offset = written.load(ordering: .relaxed)
        do {
            try write(bytes, at: offset)
        } catch {
            guard isOnDisk else { throw error }
            note(error)
            try leaveDisk(from: offset)
            try write(bytes, at: offset)
        }
        // releasing: partner of the acquire in `byteCount`.
        written.store(offset + bytes.count, ordering: .releasing)
    }

    /// Says that no more bytes will come.
    ///
    /// Called on the journal thread.
    func seal() {
        if hasFailedSync.load(ordering: .relaxed) {
            // Without memory, the disk's own copy is all that there is to read.
            try? leaveDisk(from: durableByteCount)
        }
        // Without the mark the take is as whole as its manifest says.
        if isOnDisk { try? segments.withLock({ $0[0].file }).finish() }
        sealed.store(true, ordering: .releasing)
    }

    private var isOnDisk: Bool { path != nil && segments.withLock { $0.count } == 1 }

    private func write(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError) {
        let last = segments.withLock { $0[$0.count - 1] }
        try last.file.write(bytes, at: offset - last.start)
    }

    /// Goes on in memory, and copies there what the disk holds from `offset` on.
    ///
    /// Does nothing when that was done before.
    private func leaveDisk(from offset: Int) throws(SystemError) {
        guard isOnDisk else { return }
        let memory = PlainFile(try makeMemoryFile("utter-journal"))
        let end = written.load(ordering: .relaxed)
        var copied = offset
        var buffer = [UInt8](repeating: 0, count: min(end - offset, 1 << 16))
        while copied < end {
            let found = unsafe buffer.withUnsafeMutableBytes { bytes in
                // What cannot be read any more is left where it is, for whoever asks for it.
                unsafe try? read(at: copied, into: bytes)
            }
            guard case .bytes(let count) = found else { break }
            try memory.write(buffer.span.extracting(first: count), at: copied - offset)
            copied += count
        }
        let start = copied == end ? offset : end
        // What was copied in part is overwritten.
        segments.withLock { $0.append(Segment(start: start, file: memory)) }
    }

    // MARK: - The sync thread

    /// Makes everything on the disk durable.
    ///
    /// Called on the sync thread; blocks on the disk.
    func sync() {
        guard path != nil, !hasFailedSync.load(ordering: .relaxed) else { return }
        let count = diskByteCount
        guard count > durableByteCount else { return }
        let file = segments.withLock { $0[0].file }
        do throws(SystemError) {
            try file.sync()
            durable.store(count, ordering: .relaxed)
        } catch {
            note(error)
            hasFailedSync.store(true, ordering: .relaxed)
        }
    }

    /// Whether no sync will ever be needed again.
    var isSettled: Bool {
        isSealed
            && (path == nil || hasFailedSync.load(ordering: .relaxed)
                || durableByteCount == diskByteCount)
    }

    /// Bytes of the take that are on the disk, durable or not.
    private var diskByteCount: Int {
        // Asked first: a segment in memory is there before its bytes are counted.
        let count = byteCount
        return segments.withLock { $0.count > 1 ? min(count, $0[1].start) : count }
    }

    private func note(_ error: SystemError) {
        firstFailure.withLock { if $0 == nil { $0 = error } }
    }
}
