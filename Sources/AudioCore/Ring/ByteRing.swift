// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A bounded queue of bytes between one writing and one reading thread at a time, without locks.
///
/// It stands between the capture loop, which may never wait, and the threads of the journal, which
/// may have to wait for a disk. Both counters only grow; their difference is what is stored, and the
/// place of a byte is its offset modulo the capacity. Of memory of this process, the consumer gives back
/// to the system what it has consumed, so that little more is in use than is stored. Each end is handed
/// out once.
///
/// Where its memory is a file's, the bytes outlive a process that is killed.
@safe package final class ByteRing: Sendable {
    private let memory: RingMemory
    private nonisolated(unsafe) let written, consumed: UnsafeMutablePointer<Atomic<Int>>
    private let isFinished = Atomic(false)
    private let isAwaited = Atomic(false)
    private let producerIsTaken = Atomic(false)
    private let consumerIsTaken = Atomic(false)

    /// Written only between `consumed` and `written` by the producer, read only there by the
    /// consumer; the counters' release and acquire order the accesses.
    private nonisolated(unsafe) let storage: UnsafeMutablePointer<UInt8>

    package init(_ memory: RingMemory) {
        self.memory = memory
        unsafe (written, consumed) = unsafe (memory.written, memory.consumed)
        unsafe storage = memory.bytes
    }

    /// A ring in the memory of this process; the capacity is rounded up to a power of two.
    package convenience init(minimumCapacity: Int) {
        self.init(RingMemory(minimumCapacity: minimumCapacity))
    }

    /// In bytes; a power of two.
    private var capacity: Int { memory.capacity }

    package func makeFollower() -> Follower { Follower(ring: self) }

    private func position(of offset: Int) -> Int { offset & (capacity - 1) }

    /// Traps when it has been taken before.
    package func takeProducer() -> Producer {
        precondition(!producerIsTaken.exchange(true, ordering: .relaxed))
        return Producer(ring: self)
    }

    /// Traps when it has been taken before.
    package func takeConsumer() -> Consumer {
        precondition(!consumerIsTaken.exchange(true, ordering: .relaxed))
        return Consumer(ring: self)
    }

    /// The writing end; used on one thread at a time, and no member ever waits.
    package struct Producer: ~Copyable, Sendable {
        fileprivate let ring: ByteRing

        /// Bytes that `write` takes now; the consumer can only make it more.
        package var freeByteCount: Int {
            // acquiring: partner of the release in Consumer.consume, so that the consumer has
            // finished with the bytes that are about to be overwritten.
            unsafe ring.memory.room - ring.written.pointee.load(ordering: .relaxed)
                + ring.consumed.pointee.load(ordering: .acquiring)
        }

        /// Whether the consumer had better come now.
        package var isHalfFull: Bool { freeByteCount < ring.memory.room / 2 }

        /// Stores all of `bytes`; or nothing, and returns false, when there is no room for all.
        package func write(_ bytes: Span<UInt8>) -> Bool {
            guard bytes.count <= freeByteCount else { return false }
            let start = unsafe ring.written.pointee.load(ordering: .relaxed)
            let position = ring.position(of: start)
            let first = min(bytes.count, ring.capacity - position)
            unsafe bytes.withUnsafeBufferPointer { source in
                guard let base = source.baseAddress else { return }
                unsafe (ring.storage + position).update(from: base, count: first)
                unsafe ring.storage.update(from: base + first, count: source.count - first)
            }
            // releasing: partner of the acquire in Consumer.consume.
            unsafe ring.written.pointee.store(start + bytes.count, ordering: .releasing)
            return true
        }

        /// If false, the consumer's `wasAwaited` says yes once the ring is empty.
        package func awaitDrain() -> Bool {
            // Mostly the consumer is through, and need not say so.
            if isDrained { return true }
            ring.isAwaited.store(true, ordering: .relaxed)
            // Partner of the fence in Consumer.wasAwaited: the consumer sees the flag, or we see
            // what it has consumed.
            atomicMemoryFence(ordering: .sequentiallyConsistent)
            return isDrained
        }

        private var isDrained: Bool {
            unsafe ring.consumed.pointee.load(ordering: .acquiring)
                == ring.written.pointee.load(ordering: .relaxed)
        }

        package func finish() {
            // releasing: partner of the acquires in Consumer.isFinished and Follower.isFinished.
            ring.isFinished.store(true, ordering: .releasing)
        }
    }

    /// The reading end; used on one thread at a time, and no member ever waits.
    package struct Consumer: ~Copyable, Sendable {
        fileprivate let ring: ByteRing

        /// Once true, what is left to consume is the rest.
        package var isFinished: Bool {
            // acquiring: partner of the release in Producer.finish.
            ring.isFinished.load(ordering: .acquiring)
        }

        /// Whether the producer waits for what was consumed by now; true once.
        package func wasAwaited() -> Bool {
            // Partner of the fence in Producer.awaitDrain.
            atomicMemoryFence(ordering: .sequentiallyConsistent)
            return ring.isAwaited.load(ordering: .relaxed)
                && ring.isAwaited.exchange(false, ordering: .relaxed)
        }

        /// Offers the oldest bytes that stand together, and frees as many as `body` used.
        ///
        /// The bytes may wrap around: two calls offer all that was stored before the first.
        ///
        /// - Parameter body: receives at least one byte; returns how many it used, from the
        ///   start. Not called when the ring is empty.
        /// - Returns: what `body` returned, or 0 when the ring is empty.
        package func consume(_ body: (Span<UInt8>) -> Int) -> Int {
            let start = unsafe ring.consumed.pointee.load(ordering: .relaxed)
            // acquiring: partner of the release in Producer.write.
            let stored = unsafe ring.written.pointee.load(ordering: .acquiring) - start
            guard stored > 0 else { return 0 }
            let position = ring.position(of: start)
            let count = min(stored, ring.capacity - position)
            let bytes = unsafe UnsafeBufferPointer(start: ring.storage + position, count: count)
            let used = body(unsafe bytes.span)
            precondition((0...count).contains(used))
            var end = start
            while end < start + used {
                end = ring.memory.step(from: end, to: start + used)
                // releasing: partner of the acquire in Producer.freeByteCount.
                unsafe ring.consumed.pointee.store(end, ordering: .releasing)
                // Afterwards: a follower that reads zeros there sees that the bytes were consumed.
                ring.memory.giveBack(before: end)
            }
            return used
        }
    }

    /// A second reader, which consumes nothing; from any thread.
    package struct Follower: Sendable {
        fileprivate let ring: ByteRing

        /// The offset behind the last byte that is stored; grows until the ring is finished.
        package var end: Int {
            // acquiring: partner of the release in Producer.write.
            unsafe ring.written.pointee.load(ordering: .acquiring)
        }

        /// Once true, `end` is final.
        package var isFinished: Bool {
            // acquiring: partner of the release in Producer.finish.
            ring.isFinished.load(ordering: .acquiring)
        }

        /// Copies bytes that stand together, perhaps fewer than fit.
        ///
        /// - Returns: how many; nil when the byte at the offset has been consumed, and its place may
        ///   have another.
        package func copy(
            from offset: Int, into buffer: UnsafeMutableRawBufferPointer
        ) -> Int? {
            let stored = end - offset
            guard stored > 0 else { return 0 }
            let position = ring.position(of: offset)
            let count = min(stored, buffer.count, ring.capacity - position)
            if isThere(offset) {
                unsafe buffer.copyMemory(
                    from: UnsafeRawBufferPointer(start: ring.storage + position, count: count))
            }
            // Asked last: until now the producer has written over nothing from the offset on.
            return isThere(offset) ? count : nil
        }

        private func isThere(_ offset: Int) -> Bool {
            // Both: reads of bytes before and behind stay there.
            atomicMemoryFence(ordering: .acquiringAndReleasing)
            return unsafe ring.consumed.pointee.load(ordering: .acquiring) <= offset
        }
    }
}
