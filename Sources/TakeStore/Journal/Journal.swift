// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform
internal import Synchronization

/// The bytes of one take, append-only: written by the journal thread, read by any.
///
/// The journal is the audio file itself. When the disk refuses a write, the take goes on in
/// memory from that byte on: what follows is sent all the same, and `condition` says so. A disk
/// that failed to sync is not trusted again: what it had not confirmed is copied to memory as
/// well. The sync thread then tries to bring everything back to the disk (`Journal+Upkeep`).
///
/// The file is written by whoever holds the pen: the journal thread, until the take has to go on
/// in memory or is sealed; then the sync thread, which gives the pen back when the disk holds
/// everything but the newest bytes.
package final class Journal: Sendable {
    /// How much of a take may live in memory: 2.3 h of PCM.
    static let memoryLimit = 256 << 20
    /// What may follow after the recording was asked to end: more than the ring holds.
    static let memoryReserve = 4 << 20
    /// The most that the journal thread copies back to the disk in one go.
    static let catchUpLimit = 256 << 10

    enum Pen { case journalThread, syncThread }

    struct Memory {
        let file: any JournalFile
        /// The offset in the take of the first byte in memory.
        let start: Int
    }

    struct State {
        var file: any JournalFile
        /// Whether the file may be written and synced again.
        var isTrusted = true
        /// What the file does not hold, or not for sure.
        var memory: Memory?
        var pen = Pen.journalThread
        /// Bytes that the file holds, while there is memory; others hold all.
        var fileByteCount = 0
        var condition = JournalCondition()
        /// What the sync thread remembers from turn to turn.
        var upkeep = Upkeep()
    }

    /// The path of the file, or nil when the journal lives in memory only.
    package let path: String?

    let home: JournalHome?
    let memoryLimit: Int
    let state: Mutex<State>
    let written = Atomic(0)
    let durable = Atomic(0)
    private let sealed = Atomic(false)

    /// Takes over an empty file.
    ///
    /// - Parameters:
    ///   - file: opened for reading and writing.
    ///   - path: its path, or nil when it is a memory file.
    package convenience init(file: consuming OwnedDescriptor, path: String?) {
        self.init(file: PlainFile(file), path: path)
    }

    /// Begins a journal that lives in memory only.
    package convenience init() { self.init(file: MemoryFile(), path: nil) }

    /// Takes over an empty file of whatever form.
    ///
    /// Without a home the file is never replaced.
    init(
        file: any JournalFile, path: String?, home: JournalHome? = nil,
        memoryLimit: Int = Journal.memoryLimit
    ) {
        self.path = path
        self.home = home
        self.memoryLimit = memoryLimit
        state = Mutex(State(file: file))
    }

    /// Opens a sealed journal of an earlier run, of `byteCount` bytes.
    package convenience init(
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
    package var byteCount: Int {
        // acquiring: partner of the release in `append`.
        written.load(ordering: .acquiring)
    }

    /// Bytes that a power cut leaves on the disk.
    ///
    /// From any thread.
    package var durableByteCount: Int { durable.load(ordering: .relaxed) }

    /// Whether no more bytes will come.
    ///
    /// Once true, `byteCount` is final. From any thread.
    package var isSealed: Bool {
        // acquiring: partner of the release in `seal`.
        sealed.load(ordering: .acquiring)
    }

    /// How well the disk serves the take.
    ///
    /// From any thread.
    package var condition: JournalCondition { state.withLock { $0.condition } }

    /// Whether memory holds as much as one take may have there.
    ///
    /// The recording has to end then; a little is still taken. From any thread.
    package var isFull: Bool { memoryByteCount(at: byteCount) >= memoryLimit }

    /// What a read found.
    package enum Read: Sendable, Equatable {
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
    package func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Read {
        // Asked first: when it is true, the count that is read after it is final.
        let isFinal = isSealed
        let available = byteCount - offset
        guard available > 0 else { return isFinal ? .end : .nothingYet }
        let (file, start, end) = state.withLock { state -> (any JournalFile, Int, Int) in
            guard let memory = state.memory else { return (state.file, 0, Int.max) }
            guard offset < memory.start else { return (memory.file, memory.start, Int.max) }
            return (state.file, 0, memory.start)
        }
        let wanted = min(available, buffer.count, end - offset)
        let count = unsafe try file.read(
            at: offset - start, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
        // Somebody cut the file from outside.
        guard count > 0 else { throw SystemError(call: "read", code: Self.inputOutputError) }
        return .bytes(count)
    }

    // MARK: - The journal thread

    /// Appends bytes; when the disk refuses, in memory.
    ///
    /// Called on the journal thread.
    ///
    /// - Throws: `SystemError` when not even memory is left.
    func append(_ bytes: Span<UInt8>) throws(SystemError) {
        let offset = written.load(ordering: .relaxed)
        try place(bytes, at: offset)
        // releasing: partner of the acquire in `byteCount`.
        written.store(offset + bytes.count, ordering: .releasing)
    }

    /// Says that no more bytes will come.
    ///
    /// Called on the journal thread.
    func seal() {
        returnToDisk()
        let isDoubtful = state.withLock { !$0.isTrusted && $0.memory == nil }
        // Without memory, the disk's own copy is all that there is to read.
        if isDoubtful { try? leaveDisk(from: durableByteCount) }
        state.withLock { $0.pen = .syncThread }
        // releasing: partner of the acquire in `isSealed`; the pen is not taken again.
        sealed.store(true, ordering: .releasing)
    }

    private func place(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError) {
        returnToDisk()
        let (file, isTrusted, hasMemory) = state.withLock {
            ($0.file, $0.isTrusted, $0.memory != nil)
        }
        if !hasMemory {
            do throws(SystemError) {
                if isTrusted { return try write(bytes, to: file, at: offset) }
                try leaveDisk(from: durableByteCount)
            } catch {
                guard path != nil, isTrusted else { throw error }
                note(error)
                try leaveDisk(from: offset)
            }
        }
        guard let memory = state.withLock({ $0.memory }) else { return }
        try write(bytes, to: memory.file, at: offset - memory.start)
    }

    /// Writes to the disk, or within the bound to memory.
    private func write(
        _ bytes: Span<UInt8>, to file: any JournalFile, at offset: Int
    ) throws(SystemError) {
        let end = written.load(ordering: .relaxed) + bytes.count
        guard memoryByteCount(at: end) <= memoryLimit + Self.memoryReserve else {
            throw SystemError(call: "memory of one take", code: Self.noMemoryError)
        }
        try file.write(bytes, at: offset)
    }

    private func memoryByteCount(at end: Int) -> Int {
        if path == nil { return end }
        return state.withLock { $0.memory.map { end - $0.start } ?? 0 }
    }

    /// Writes to the file again once the sync thread has brought it nearly everything.
    private func returnToDisk() {
        let work = state.withLock { state -> (any JournalFile, Int)? in
            guard state.memory != nil, state.pen == .journalThread else { return nil }
            return (state.file, state.fileByteCount)
        }
        guard let (file, start) = work else { return }
        let end = written.load(ordering: .relaxed)
        do throws(SystemError) {
            // Too much for this thread; the sync thread tries once more.
            guard end - start <= Self.catchUpLimit else {
                return state.withLock { $0.pen = .syncThread }
            }
            try copy(to: file, from: start, to: end)
            state.withLock { state in
                state.memory = nil
                state.condition.failure = nil
            }
        } catch {
            note(error)
            state.withLock { $0.pen = .syncThread }
        }
    }
}

// MARK: - Whoever holds the pen

extension Journal {
    static var inputOutputError: Int32 { 5 }
    static var noMemoryError: Int32 { 12 }
    static var noEntryError: Int32 { 2 }

    func note(_ error: SystemError) {
        state.withLock { state in
            if state.condition.failure == nil { state.condition.failure = error }
            if !error.isRefusal { state.isTrusted = false }
        }
    }

    /// Goes on in memory, and copies there what the disk holds from `offset` on.
    ///
    /// The sync thread has the pen from then on.
    func leaveDisk(from offset: Int) throws(SystemError) {
        let memory = MemoryFile()
        let end = written.load(ordering: .relaxed)
        var start = offset
        do throws(SystemError) {
            try copy(to: memory, from: offset, to: end, at: 0)
        } catch {
            // What cannot be read any more is left where it is, for whoever asks for it.
            start = end
        }
        state.withLock { state in
            state.memory = Memory(file: memory, start: start)
            state.fileByteCount = state.isTrusted ? start : 0
            state.pen = .syncThread
        }
    }

    /// Copies a part of the take into a file, to the same place or to `position`.
    func copy(
        to file: any JournalFile, from start: Int, to end: Int, at position: Int? = nil
    ) throws(SystemError) {
        var buffer = [UInt8](repeating: 0, count: min(end - start, 1 << 16))
        var copied = start
        while copied < end {
            let count = try buffer.read(from: self, at: copied, limit: end - copied)
            guard count > 0 else { return }
            let place = (position ?? start) + copied - start
            try file.write(buffer.span.extracting(first: count), at: place)
            copied += count
        }
    }
}

extension SystemError {
    /// Whether the disk only had no room: what it holds is as good as before.
    var isRefusal: Bool {
        // ENOSPC, EDQUOT, EFBIG
        [28, 122, 27].contains(code)
    }
}
