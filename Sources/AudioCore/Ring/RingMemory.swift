// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The memory of a ring: a header, and behind it the bytes, a power of two of them.
///
/// The header has the counters and a text. Where the memory is a file's, both outlive a process that
/// is killed (`RingRemains`).
@safe package final class RingMemory: Sendable {
    package static let headerByteCount = 16_384
    /// The longest text in bytes.
    package static let longestText = headerByteCount - Place.text

    /// Offsets in the header.
    ///
    /// Each end of a ring writes to a cache line of its own, so that the ends do not take lines from
    /// each other on every access.
    enum Place {
        static let magic = 0
        static let capacity = 8
        static let textByteCount = 16
        static let attempts = 24
        static let isCancelled = 32
        static let written = 64
        static let consumed = 128
        static let text = 192
    }

    /// "utter", the kind, and the version of what stands here.
    static let magic = 0x0200_7265_7474_7572

    /// In bytes; a power of two.
    let capacity: Int
    /// The unit in which the consumer gives memory back to the system, in bytes; 0 where it gives nothing
    /// back, since the memory is a file's, is small, or has larger pages.
    ///
    /// The producer leaves as much free, so that it never writes to a block that is being given back.
    let block: Int
    nonisolated(unsafe) let base: UnsafeMutableRawPointer
    private let release: @Sendable (UnsafeMutableRawPointer) -> Void

    /// Memory of this process; `capacity` is rounded up to a power of two.
    convenience init(minimumCapacity: Int) {
        let block =
            minimumCapacity < 1 << 16 || sysconf(Int32(_SC_PAGESIZE)) > 1 << 13 ? 0 : 1 << 13
        let capacity = Self.capacity(atLeast: minimumCapacity + block)
        let byteCount = Self.headerByteCount + capacity
        // Not of the heap, whose pages are in use before anything is stored.
        let base = unsafe mmap(
            nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let base = unsafe base, unsafe base != MAP_FAILED else {
            preconditionFailure("no memory for a ring: \(errno)")
        }
        // A huge page would be in use as a whole.
        _ = unsafe madvise(base, byteCount, MADV_NOHUGEPAGE)
        unsafe self.init(base, capacity: capacity, block: block) {
            _ = unsafe munmap($0, byteCount)
        }
    }

    /// Memory of zeros, with room for the header and the bytes.
    ///
    /// - Parameters:
    ///   - base: its first byte.
    ///   - capacity: in bytes, a power of two.
    ///   - block: whole pages, of which the capacity is a multiple; 0 where nothing is given back.
    ///   - text: for a process that finds this one dead; at most `longestText` bytes.
    ///   - release: called with `base` when the last reference goes.
    package init(
        _ base: UnsafeMutableRawPointer, capacity: Int, block: Int = 0, text: [UInt8] = [],
        release: @escaping @Sendable (UnsafeMutableRawPointer) -> Void
    ) {
        precondition(text.count <= Self.longestText && capacity & (capacity - 1) == 0)
        unsafe (self.base, self.capacity, self.release) = (base, capacity, release)
        self.block = block
        unsafe counter(Place.attempts).initialize(to: Atomic(0))
        unsafe counter(Place.isCancelled).initialize(to: Atomic(0))
        unsafe written.initialize(to: Atomic(0))
        unsafe consumed.initialize(to: Atomic(0))
        unsafe base.storeBytes(of: capacity, toByteOffset: Place.capacity, as: Int.self)
        unsafe base.storeBytes(of: text.count, toByteOffset: Place.textByteCount, as: Int.self)
        unsafe (base + Place.text).copyMemory(from: text, byteCount: text.count)
        // Last: memory without it holds nothing.
        unsafe base.storeBytes(of: Self.magic, toByteOffset: Place.magic, as: Int.self)
    }

    deinit { unsafe release(base) }

    package static func capacity(atLeast minimum: Int) -> Int {
        var capacity = 4_096
        while capacity < minimum { capacity *= 2 }
        return capacity
    }

    /// The most bytes that are stored.
    var room: Int { capacity - block }

    /// Where the consumer next says what it has consumed: at the end, or at that of a block.
    func step(from offset: Int, to end: Int) -> Int {
        block == 0 ? end : min(end, (offset / block + 1) * block)
    }

    /// Gives a block back, once all before its end is consumed (`madvise(2)`); its bytes are zeros then.
    func giveBack(before end: Int) {
        guard block > 0, end % block == 0 else { return }
        // Memory that stays is no fault.
        _ = unsafe madvise(bytes + ((end - block) & (capacity - 1)), block, MADV_DONTNEED)
    }

    var written: UnsafeMutablePointer<Atomic<Int>> { unsafe counter(Place.written) }
    var consumed: UnsafeMutablePointer<Atomic<Int>> { unsafe counter(Place.consumed) }
    var bytes: UnsafeMutablePointer<UInt8> {
        unsafe (base + Self.headerByteCount).assumingMemoryBound(to: UInt8.self)
    }

    /// Notes the highest number of an attempt that has begun, for a process that finds this one dead.
    package func note(attempt number: Int) {
        unsafe counter(Place.attempts).pointee.store(number, ordering: .relaxed)
    }

    /// Notes that the person has cancelled the take, for a process that finds this one dead.
    package func cancel() {
        unsafe counter(Place.isCancelled).pointee.store(1, ordering: .relaxed)
    }

    private func counter(_ place: Int) -> UnsafeMutablePointer<Atomic<Int>> {
        unsafe (base + place).assumingMemoryBound(to: Atomic<Int>.self)
    }
}

/// The bytes of a ring in a file that nothing has consumed, once its process has ended.
package struct RingRemains {
    package let text: [UInt8]
    /// The highest number of an attempt that has begun; 0 before the first.
    package let attempts: Int
    package let isCancelled: Bool
    /// The place of the first byte in the stream.
    package let offset: Int
    package private(set) var bytes: [UInt8] = []

    /// Reads the whole file; nil when it is of another version, or its numbers are of no ring.
    package init?(_ file: [UInt8]) {
        typealias Place = RingMemory.Place
        let header = RingMemory.headerByteCount
        guard file.count > header else { return nil }
        func number(_ place: Int) -> Int {
            file[place..<place + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        let (capacity, textByteCount) = (number(Place.capacity), number(Place.textByteCount))
        let (consumed, written) = (number(Place.consumed), number(Place.written))
        guard number(Place.magic) == RingMemory.magic, capacity == file.count - header,
            capacity & (capacity - 1) == 0, (0...RingMemory.longestText).contains(textByteCount),
            consumed >= 0, written >= consumed, written - consumed <= capacity
        else { return nil }
        text = Array(file[Place.text...].prefix(textByteCount))
        (attempts, isCancelled) = (number(Place.attempts), number(Place.isCancelled) != 0)
        offset = consumed
        var position = consumed & (capacity - 1)
        var rest = written - consumed
        while rest > 0 {
            let piece = file[(header + position)...].prefix(rest)
            bytes += piece
            (position, rest) = (0, rest - piece.count)
        }
    }
}
