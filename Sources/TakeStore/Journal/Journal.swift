// SPDX-License-Identifier: Apache-2.0

package import AudioCore
internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// The bytes of one take, append-only: carried in from a ring, read by any thread.
///
/// The journal is the audio file itself. When the disk refuses a write, the take goes on in
/// memory from that byte on: what follows is sent all the same, and `condition` says so. A disk
/// that failed to sync is not trusted again: what it had not confirmed goes to memory as well.
/// Memory holds the rest of the take until it is sealed; the sync thread then writes it to the disk
/// once (`Journal+Upkeep`).
///
/// Until the seal the file is written by the thread that carries the ring (`JournalStage`), and by the
/// sync thread from then on.
package final class Journal: Sendable {
    /// The most bytes of a take in memory: 2.3 h of PCM.
    static let memoryLimit = 256 << 20
    /// Room for the bytes after the request to stop: more than the ring holds.
    static let memoryReserve = 4 << 20

    struct Memory {
        let file: any JournalFile
        let start: Int
    }

    struct State {
        var file: any JournalFile
        /// The path of the file; nil while the journal lives in memory only.
        var path: String?
        /// The maker of a new file; without it the file is never replaced.
        var home: JournalHome?
        /// The file may be written and synced.
        var isTrusted = true
        /// The rest of the take, which is not safely in the file.
        var memory: Memory?
        var condition = JournalCondition()
        var upkeep = Upkeep()
    }

    /// The ring that is carried into this journal until the seal; readers have its bytes at once.
    ///
    /// Without one readers have the bytes of the file.
    private let ring: Mutex<ByteRing.Follower?>
    let state: Mutex<State>
    let written = Atomic(0)
    /// -1 before the first sync, which makes the key in an encrypted file durable.
    let durable = Atomic(-1)
    private let memoryLimit: Int
    private let full = Atomic(false)
    private let sealed = Atomic(false)

    /// A journal in memory, of what is carried into it from a ring, if any.
    package convenience init(following ring: ByteRing.Follower? = nil) {
        self.init(file: MemoryFile(), path: nil, ring: ring)
    }

    init(
        file: any JournalFile, path: String?, home: JournalHome? = nil,
        ring: ByteRing.Follower? = nil, memoryLimit: Int = Journal.memoryLimit
    ) {
        self.memoryLimit = memoryLimit
        self.ring = Mutex(ring)
        let memory = path == nil ? Memory(file: file, start: 0) : nil
        state = Mutex(State(file: file, path: path, home: home, memory: memory))
    }

    convenience init(sealed file: any JournalFile, byteCount: Int, path: String) {
        self.init(file: file, path: path)
        written.store(byteCount, ordering: .relaxed)
        durable.store(byteCount, ordering: .relaxed)
        sealed.store(true, ordering: .releasing)
    }

    /// Moves a journal in memory to the disk, before any byte is carried into it.
    func move(to file: any JournalFile, at path: String, home: JournalHome) {
        state.withLock { state in
            (state.file, state.path, state.home, state.memory) = (file, path, home, nil)
        }
    }

    /// The path of the file; nil while the journal lives in memory only; from any thread.
    package var path: String? { state.withLock { $0.path } }

    /// Bytes that can be read; grows until the journal is complete; from any thread.
    package var byteCount: Int {
        max(ring.withLock { $0?.end } ?? 0, writtenByteCount)
    }

    /// Bytes that the file has, or memory in its place; from any thread.
    package var writtenByteCount: Int {
        // acquiring: partner of the release in `append`.
        written.load(ordering: .acquiring)
    }

    /// Bytes that survive a power cut; from any thread.
    var durableByteCount: Int { max(0, durable.load(ordering: .relaxed)) }

    /// Once true, no byte follows, though the disk may not have taken all; from any thread.
    package var isComplete: Bool {
        // The ring first: it goes once the journal is sealed.
        ring.withLock { $0?.isFinished } == true || isSealed
    }

    /// Once true, no byte is carried any more; from any thread.
    package var isSealed: Bool {
        // acquiring: partner of the release in `seal`.
        sealed.load(ordering: .acquiring)
    }

    /// From any thread.
    package var condition: JournalCondition { state.withLock { $0.condition } }

    /// Memory holds the most of one take: the recording has to end, though a little is still taken;
    /// from any thread.
    var isFull: Bool { full.load(ordering: .relaxed) }

    package enum Read: Sendable, Equatable {
        /// At least one byte, at the start of the buffer.
        case bytes(Int)
        case nothingYet
        /// The journal is complete before that offset.
        case end
    }

    /// Reads perhaps less than fits into the buffer, which is not empty; from any thread, never
    /// waits for bytes.
    package func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Read {
        // Asked first: when it is true, the count that is read after it is final.
        let isFinal = isComplete
        if offset >= writtenByteCount, let ring = ring.withLock({ $0 }) {
            let count = unsafe ring.copy(from: offset, into: buffer)
            if let count { return count > 0 ? .bytes(count) : isFinal ? .end : .nothingYet }
        }
        let available = writtenByteCount - offset
        guard available > 0 else { return isFinal ? .end : .nothingYet }
        let (file, memory) = state.withLock { ($0.file, $0.memory) }
        let count: Int
        if let memory, offset >= memory.start {
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(available))
            count = unsafe try memory.file.read(at: offset - memory.start, into: part)
        } else {
            let end = min(available, (memory?.start ?? .max) - offset)
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(end))
            count = unsafe try file.read(at: offset, into: part)
        }
        // The file was cut from outside.
        guard count > 0 else { throw SystemError(call: "read", code: EIO) }
        return .bytes(count)
    }

    // MARK: - The thread that carries

    /// Appends to memory when the disk refuses.
    func append(_ bytes: Span<UInt8>) throws(SystemError) {
        let offset = written.load(ordering: .relaxed)
        let (file, isTrusted, memory) = state.withLock { ($0.file, $0.isTrusted, $0.memory) }
        if let memory {
            try remember(bytes, in: memory, at: offset)
        } else if !isTrusted {
            try remember(bytes, in: leaveDisk(from: durableByteCount), at: offset)
        } else {
            do throws(SystemError) {
                try file.write(bytes, at: offset)
            } catch {
                note(error)
                try remember(bytes, in: leaveDisk(from: offset), at: offset)
            }
        }
        // releasing: partner of the acquire in `byteCount`.
        written.store(offset + bytes.count, ordering: .releasing)
    }

    /// No bytes follow.
    func seal() {
        // The disk may forget what it has not confirmed.
        if state.withLock({ !$0.isTrusted && $0.memory == nil }) {
            leaveDisk(from: durableByteCount)
        }
        // releasing: partner of the acquire in `isSealed`; the file is the sync thread's now.
        sealed.store(true, ordering: .releasing)
        ring.withLock { $0 = nil }
    }

    private func remember(
        _ bytes: Span<UInt8>, in memory: Memory, at offset: Int
    ) throws(SystemError) {
        let byteCount = offset + bytes.count - memory.start
        guard byteCount <= memoryLimit + Self.memoryReserve else {
            throw SystemError(call: "memory of one take", code: ENOMEM)
        }
        try memory.file.write(bytes, at: offset - memory.start)
        if byteCount >= memoryLimit { full.store(true, ordering: .relaxed) }
    }

    // MARK: - The thread that may write the file

    /// After a sync that failed the file is not trusted, whatever the reason.
    func note(_ error: SystemError, ofSync: Bool = false) {
        state.withLock { state in
            if state.condition.failure == nil { state.condition.failure = error }
            if ofSync || !error.isRefusal { state.isTrusted = false }
        }
    }

    /// Goes on in memory, with a copy of what the disk holds from `offset` on.
    @discardableResult
    func leaveDisk(from offset: Int) -> Memory {
        let end = written.load(ordering: .relaxed)
        var memory = Memory(file: MemoryFile(), start: offset)
        do throws(SystemError) {
            try copy(to: memory.file, from: offset, to: end, at: 0)
        } catch {
            // Bytes that cannot be read any more stay where they are, for a reader to find out;
            // the part that can be read does not border on what follows.
            memory = Memory(file: MemoryFile(), start: end)
        }
        state.withLock { $0.memory = memory }
        return memory
    }

    /// To the same place, or to `position`.
    func copy(
        to file: any JournalFile, from start: Int, to end: Int, at position: Int? = nil
    ) throws(SystemError) {
        try forEachPiece(from: start, to: end) { piece, offset throws(SystemError) in
            try file.write(piece, at: (position ?? start) + offset - start)
        }
    }
}

extension SystemError {
    /// The disk had no room; what it holds is intact.
    var isRefusal: Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }
}

package struct JournalCondition: Sendable, Equatable {
    /// Why a part of the take lives in memory only.
    package internal(set) var failure: SystemError?
    package internal(set) var shortage: Shortage?
    /// Bytes have waited this long for the disk, more than a second.
    package internal(set) var slowSync: Duration?
    /// The bytes for which the file has room by now: changes with every mebibyte of a take.
    var reservedByteCount = 0

    package init() {}

    package struct Shortage: Sendable, Equatable {
        package let error: SystemError
        /// Bytes that are free; nil when unknown.
        package private(set) var freeByteCount: Int?
    }
}

/// Gives a journal a new file when the old one is not trusted; blocks the sync thread.
struct JournalHome: Sendable {
    /// An empty file beside the audio.
    let makeFile: @Sendable () throws(SystemError) -> any JournalFile
    /// Puts the last file of `makeFile` in the place of the audio, durably.
    let replaceAudio: @Sendable () throws(SystemError) -> Void
}
