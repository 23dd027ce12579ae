// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import Glibc
internal import LinuxPlatform
internal import Synchronization
internal import TakeStore
internal import Upload

/// A stretch of a recording as a file of its own: a header, and a range of the journal.
///
/// The end of a stretch that is being recorded is not known: its body goes on up to the place from
/// which on it may be cut, and waits there.
struct StretchAudio: BodySource {
    private let header: [UInt8]
    private let journal: Journal
    private let start: Int
    /// How far the stretch goes, and how many frames there are; on the transfer thread.
    private let reach: @Sendable () -> (StretchReach, frameCount: Int)
    /// In bytes of the journal: how far it went before it had to wait.
    private let reached: Reached

    private final class Reached: Sendable {
        let offset: Atomic<Int>
        init(_ offset: Int) { self.offset = Atomic(offset) }
    }

    init(
        _ journal: Journal, from start: Int, behind header: [UInt8],
        reach: @escaping @Sendable () -> (StretchReach, frameCount: Int)
    ) {
        (self.journal, self.start, self.header, self.reach) = (journal, start, header, reach)
        reached = Reached(start)
    }

    /// A file that is made already.
    init(_ bytes: [UInt8]) {
        self.init(Journal(), from: 0, behind: bytes) { (StretchReach(offset: 0, isFinal: true), 0) }
    }

    var isComplete: Bool {
        // Asked first: what is read after it is final.
        let isRecorded = journal.isComplete
        let (reach, frameCount) = reach()
        if reach.isFinal { return true }
        // Where it is held back, it may have to be cut.
        return isRecorded && journal.byteCount <= reach.offset && frameCount < reach.held
    }

    var byteCount: Int {
        // Asked first: frames are counted before their bytes are there.
        let there = journal.byteCount
        let (reach, frameCount) = reach()
        let isHeld = frameCount >= reach.held
        let end = reach.isFinal ? reach.offset : min(there, reach.offset)
        let offset = isHeld ? reached.offset.load(ordering: .relaxed) : max(start, end)
        reached.offset.store(offset, ordering: .relaxed)
        return header.count + offset - start
    }

    func readBytes(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        if offset < header.count {
            let count = min(buffer.count, header.count - offset)
            for index in 0..<count { unsafe buffer[index] = header[offset + index] }
            return count
        }
        return unsafe try journal.readBytes(at: start + offset - header.count, into: buffer)
    }
}

extension AudioCodec {
    /// A stretch of a recording whose end is known, as a file; blocks on the disk.
    func file(
        of stretch: StretchRequest, to end: Int, in journal: Journal, serialNumber: UInt32
    ) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, end - stretch.start.offset))
        var filled = 0
        while filled < bytes.count {
            let count = try bytes.fill(from: journal, at: stretch.start.offset + filled, to: filled)
            guard count > 0 else { throw SystemError(call: "read", code: EIO) }
            filled += count
        }
        // The header of the recording says how long the whole is.
        if stretch.start.offset == 0 { bytes.removeFirst(headerByteCount(in: bytes) ?? 0) }
        return try self.file(of: bytes, serialNumber: serialNumber)
    }
}
