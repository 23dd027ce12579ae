// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import LinuxPlatform
internal import Synchronization

/// The bytes of one take, append-only: written by the journal thread, read by any.
///
/// The journal is the audio file itself. When the disk refuses a write, the take goes on in
/// memory from that byte on: what follows is sent all the same, and `failure` says so.
public final class Journal: Sendable {
    /// Where the bytes are: on disk, and from some offset on perhaps in memory.
    private struct Segment {
        let start: Int
        let file: Descriptor
    }

    /// Shares an owned descriptor between the segments' readers.
    private final class Descriptor: Sendable {
        let owned: OwnedDescriptor
        init(_ owned: consuming OwnedDescriptor) { self.owned = owned }
        var number: Int32 { owned.number }
    }

    /// The path of the file, or nil when the journal lives in memory only.
    public let path: String?

    private let segments: Mutex<[Segment]>
    private let written = Atomic(0)
    private let durable = Atomic(0)
    private let sealed = Atomic(false)
    private let firstFailure = Mutex<SystemError?>(nil)

    /// Takes over an empty file.
    ///
    /// - Parameters:
    ///   - file: opened for reading and writing.
    ///   - path: its path, or nil when it is a memory file.
    public init(file: consuming OwnedDescriptor, path: String?) {
        self.path = path
        let segment = Segment(start: 0, file: Descriptor(file))
        segments = Mutex([segment])
    }

    /// Opens a sealed journal of an earlier run, of `byteCount` bytes.
    public convenience init(
        sealed file: consuming OwnedDescriptor, byteCount: Int, path: String
    ) {
        self.init(file: file, path: path)
        written.store(byteCount, ordering: .relaxed)
        durable.store(byteCount, ordering: .relaxed)
        sealed.store(true, ordering: .releasing)
    }

    /// Bytes that can be read. Grows until the journal is sealed. From any thread.
    public var byteCount: Int {
        // acquiring: partner of the release in `append`.
        written.load(ordering: .acquiring)
    }

    /// Bytes that a power cut leaves on the disk. From any thread.
    public var durableByteCount: Int { durable.load(ordering: .relaxed) }

    /// Whether no more bytes will come. Once true, `byteCount` is final. From any thread.
    public var isSealed: Bool {
        // acquiring: partner of the release in `seal`.
        sealed.load(ordering: .acquiring)
    }

    /// The first write or sync that failed; from that byte on the take lives in memory.
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

    /// Reads from an offset. From any thread; does not wait for bytes.
    ///
    /// - Parameters:
    ///   - offset: in bytes from the start.
    ///   - buffer: receives at most its size; must not be empty.
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
        let count = try retryingInterrupts("read") {
            unsafe pread(file.number, buffer.baseAddress, wanted, off_t(offset - start))
        }
        // Somebody cut the file from outside.
        guard count > 0 else { throw SystemError(call: "read", code: EIO) }
        return .bytes(count)
    }

    // MARK: - The journal thread

    /// Appends bytes; when the disk refuses, in memory. Called on the journal thread.
    ///
    /// - Throws: `SystemError` when not even memory is left.
    func append(_ bytes: Span<UInt8>) throws(SystemError) {
        let offset = written.load(ordering: .relaxed)
        let last = segments.withLock { $0[$0.count - 1] }
        do {
            try writeAll(bytes, to: last.file.number, at: offset - last.start)
        } catch {
            if last.start > 0 || path == nil { throw error }
            note(error)
            let memory = Descriptor(try makeMemoryFile("utter-journal"))
            try writeAll(bytes, to: memory.number, at: 0)
            segments.withLock { $0.append(Segment(start: offset, file: memory)) }
        }
        // releasing: partner of the acquire in `byteCount`.
        written.store(offset + bytes.count, ordering: .releasing)
    }

    /// Says that no more bytes will come. Called on the journal thread.
    func seal() { sealed.store(true, ordering: .releasing) }

    // MARK: - The sync thread

    /// Makes everything written so far durable. Called on the sync thread; blocks on the disk.
    func sync() {
        guard path != nil, failure == nil else { return }
        let count = byteCount
        guard count > durableByteCount else { return }
        let file = segments.withLock { $0[0].file }
        do throws(SystemError) {
            try retryingInterrupts("fdatasync") { fdatasync(file.number) }
            durable.store(count, ordering: .relaxed)
        } catch {
            note(error)
        }
    }

    /// Whether no sync will ever be needed again.
    var isSettled: Bool {
        isSealed && (path == nil || failure != nil || durableByteCount == byteCount)
    }

    private func note(_ error: SystemError) {
        firstFailure.withLock { if $0 == nil { $0 = error } }
    }
}
