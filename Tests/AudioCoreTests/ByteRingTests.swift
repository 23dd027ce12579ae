// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AudioCore

@Suite struct ByteRingTests {
    /// Large memory stores a block less than it has bytes.
    @Test(
        arguments: [
            (0, 4_096, 4_096), (1, 4_096, 4_096), (4_096, 4_096, 4_096), (4_097, 8_192, 8_192),
            (65_535, 65_536, 65_536), (65_536, 131_072, 122_880), (122_881, 262_144, 253_952),
            (1_020_000, 1 << 20, 1_040_384),
        ])
    func theCapacityIsAPowerOfTwo(minimum: Int, capacity: Int, room: Int) {
        let memory = RingMemory(minimumCapacity: minimum)
        #expect(memory.capacity == capacity)
        let producer = ByteRing(memory).takeProducer()
        let free = producer.freeByteCount
        #expect(free == room)
        let isFull = producer.write([UInt8](repeating: 1, count: room).span)
        let isOver = producer.write([1].span)
        #expect(isFull && !isOver)
    }

    /// A ring whose reader comes often has few pages in memory, and each byte is at its offset.
    @Test func aTakeUsesLittleMoreMemoryThanItStores() {
        let memory = RingMemory(minimumCapacity: 960_000)
        let ring = ByteRing(memory)
        let producer = ring.takeProducer()
        let consumer = ring.takeConsumer()
        var most = 0
        for round in 0..<5_000 {
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: 640)
            let isWritten = producer.write(bytes.span)
            #expect(isWritten)
            let used = consumer.consume { span in
                #expect(span[0] == bytes[0])
                let place = span.withUnsafeBytes {
                    $0.baseAddress! - UnsafeRawPointer(memory.bytes)
                }
                #expect(place == (round * 640) & (memory.capacity - 1))
                return min(span.count, 640 - round % 2)
            }
            most = max(most, Self.residentByteCount(of: memory))
            if used < 640 { _ = consumer.consume { $0.count } }
        }
        // Three times through the ring: a block, and what is left of another.
        #expect(most > 0 && most <= 2 * memory.block)
    }

    /// How much of the bytes of a ring is in memory (`mincore(2)`).
    private static func residentByteCount(of memory: RingMemory) -> Int {
        var pages = [UInt8](repeating: 0, count: memory.capacity / 4_096)
        #expect(mincore(memory.bytes, memory.capacity, &pages) == 0)
        return 4_096 * pages.count { $0 & 1 == 1 }
    }

    @Test func anEmptyRingOffersNothing() {
        let consumer = ByteRing(minimumCapacity: 1).takeConsumer()
        let used = consumer.consume { _ in
            Issue.record("called for an empty ring")
            return 0
        }
        #expect(used == 0)
    }

    @Test func aWriteWithoutRoomStoresNothing() {
        let ring = ByteRing(minimumCapacity: 4_096)
        let producer = ring.takeProducer()
        let consumer = ring.takeConsumer()
        let first = producer.write([UInt8](repeating: 1, count: 4_000).span)
        let second = producer.write([UInt8](repeating: 2, count: 97).span)
        let free = producer.freeByteCount
        #expect(first && !second && free == 96)
        let third = producer.write([UInt8](repeating: 3, count: 96).span)
        let fourth = producer.write([4].span)
        let empty: [UInt8] = []
        let none = producer.write(empty.span)
        #expect(third && !fourth && none)
        let content = all(consumer)
        #expect(content == Array(repeating: 1, count: 4_000) + Array(repeating: 3, count: 96))
        let freeAgain = producer.freeByteCount
        #expect(freeAgain == 4_096)
    }

    @Test func aWriteAcrossTheEndIsReadInTwoParts() {
        let ring = ByteRing(minimumCapacity: 4_096)
        let producer = ring.takeProducer()
        let consumer = ring.takeConsumer()
        _ = producer.write([UInt8](repeating: 0, count: 4_000).span)
        _ = consumer.consume { $0.count }
        let bytes = (0..<200).map { UInt8($0) }
        let isStored = producer.write(bytes.span)
        var parts: [Int] = []
        var content: [UInt8] = []
        while consumer.consume({ span in
            parts.append(span.count)
            for index in span.indices { content.append(span[index]) }
            return span.count
        }) > 0 {}
        #expect(isStored)
        #expect(parts == [96, 104])
        #expect(content == bytes)
    }

    @Test func onlyWhatWasUsedIsFreed() {
        let ring = ByteRing(minimumCapacity: 4_096)
        let producer = ring.takeProducer()
        let consumer = ring.takeConsumer()
        _ = producer.write([1, 2, 3, 4].span)
        let none = consumer.consume { _ in 0 }
        let some = consumer.consume { $0[0] == 1 ? 3 : 0 }
        let free = producer.freeByteCount
        let rest = all(consumer)
        #expect(none == 0 && some == 3 && free == 4_095)
        #expect(rest == [4])
    }

    @Test func whoSeesTheEndSeesEveryByteBeforeIt() {
        let ring = ByteRing(minimumCapacity: 4_096)
        let producer = ring.takeProducer()
        let consumer = ring.takeConsumer()
        _ = producer.write([1].span)
        let before = consumer.isFinished
        producer.finish()
        let after = consumer.isFinished
        let rest = all(consumer)
        #expect(!before && after)
        #expect(rest == [1])
    }

    @Test func aProducerThatWaitsForAnEmptyRingIsHeardOfOnce() {
        let ring = ByteRing(minimumCapacity: 1)
        let producer = ring.takeProducer()
        let consumer = ring.takeConsumer()
        let isEmpty = producer.awaitDrain()
        #expect(isEmpty)
        _ = producer.write([1, 2].span)
        let isEmptied = producer.awaitDrain()
        #expect(!isEmptied)
        _ = consumer.consume { $0.count }
        let wasAwaited = [consumer.wasAwaited(), consumer.wasAwaited()]
        #expect(wasAwaited == [true, false])
        let isDrained = producer.awaitDrain()
        #expect(isDrained)
    }

    @Test func noWaitForAnEmptyRingIsForgotten() async {
        let ring = ByteRing(minimumCapacity: 1)
        let talk = ByteRingTalk(ring.takeProducer(), ring.takeConsumer(), rounds: 200_000)
        async let reading: Void = onOwnThread { talk.read() }
        async let isHeard = onOwnThread { talk.write() }
        #expect(await isHeard)
        await reading
    }

    /// The large ring gives memory back meanwhile, while a third thread follows.
    @Test(arguments: [4_096, 122_880])
    func everyByteArrivesOnceAndInOrderAcrossTwoThreads(room: Int) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let byteCount = 8_000_000
        let transfer = ByteRingTransfer(room: room, seed: seed, byteCount: byteCount)
        async let firstWrong = onOwnThread { transfer.follow() }
        async let refusals = onOwnThread { transfer.write() }
        let result = await onOwnThread { transfer.read() }
        #expect(result.received == byteCount, "seed \(seed)")
        #expect(result.firstWrong == nil, "seed \(seed)")
        #expect(result.most <= room, "seed \(seed)")
        #expect(await refusals > 0 || room > 4_096, "seed \(seed)")
        #expect(await firstWrong == nil, "seed \(seed)")
    }

    /// A follower has each byte until it is consumed, and never another one in its place.
    @Test func aFollowerReadsWhatIsNotConsumed() {
        var random = SeededRandom()
        let ring = ByteRing(minimumCapacity: 4_096)
        let follower = ring.makeFollower()
        let producer = ring.takeProducer()
        let consumer = ring.takeConsumer()
        var (stream, consumed): ([UInt8], Int) = ([], 0)
        var buffer = [UInt8](repeating: 0, count: 3_000)
        for _ in 0..<3_000 {
            let bytes = random.bytes(Int.random(in: 0...900, using: &random))
            let isWritten = producer.write(bytes.span)
            if isWritten { stream += bytes }
            #expect(follower.end == stream.count)
            let offset = Int.random(in: max(0, consumed - 100)...stream.count, using: &random)
            let count = buffer.withUnsafeMutableBytes { follower.copy(from: offset, into: $0) }
            if let count {
                #expect(count > 0 || offset == stream.count, "seed \(random.seed)")
                #expect(buffer[..<count] == stream[offset..<offset + count], "seed \(random.seed)")
            } else {
                #expect(offset < consumed, "seed \(random.seed)")
            }
            let most = Int.random(in: 0...1_500, using: &random)
            consumed += consumer.consume { min($0.count, most) }
        }
    }

    private func all(_ consumer: borrowing ByteRing.Consumer) -> [UInt8] {
        var content: [UInt8] = []
        while consumer.consume({ span in
            for index in span.indices { content.append(span[index]) }
            return span.count
        }) > 0 {}
        return content
    }
}

/// A producer that waits for an empty ring after each byte, and hears of it from the consumer.
private final class ByteRingTalk: Sendable {
    private let producer: ByteRing.Producer
    private let consumer: ByteRing.Consumer
    private let rounds: Int
    private let notices = Atomic(0)
    private let isOver = Atomic(false)

    init(
        _ producer: consuming ByteRing.Producer, _ consumer: consuming ByteRing.Consumer,
        rounds: Int
    ) {
        self.producer = producer
        self.consumer = consumer
        self.rounds = rounds
    }

    /// Returns whether no notice was missing.
    func write() -> Bool {
        defer { isOver.store(true, ordering: .relaxed) }
        var heard = 0
        for _ in 0..<rounds {
            _ = producer.write([1].span)
            let end = ContinuousClock.now + .patience
            while !producer.awaitDrain() {
                while notices.load(ordering: .relaxed) == heard {
                    if ContinuousClock.now > end { return false }
                }
                heard += 1
            }
        }
        return true
    }

    func read() {
        while !isOver.load(ordering: .relaxed) {
            // Asked only behind a byte: a notice that was missed is not asked for again.
            guard consumer.consume({ $0.count }) > 0, consumer.wasAwaited() else { continue }
            notices.add(1, ordering: .relaxed)
        }
    }
}

/// A small ring between two real threads, in pieces of random size.
private final class ByteRingTransfer: Sendable {
    struct Result {
        var received = 0
        var firstWrong: Int?
        var most = 0
    }

    private let seed: UInt64
    private let byteCount: Int
    private let producer: ByteRing.Producer
    private let consumer: ByteRing.Consumer
    private let follower: ByteRing.Follower
    private let room: Int

    init(room: Int, seed: UInt64, byteCount: Int) {
        self.seed = seed
        self.byteCount = byteCount
        self.room = room
        let ring = ByteRing(minimumCapacity: room)
        follower = ring.makeFollower()
        producer = ring.takeProducer()
        consumer = ring.takeConsumer()
    }

    /// What byte `place` of the stream is.
    private static func byte(_ place: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: place &* 0x9E37_79B1 >> 11)
    }

    /// Returns how often there was no room.
    func write() -> Int {
        var random = SeededRandom(seed: seed)
        var refusals = 0
        var piece: [UInt8] = []
        var written = 0
        while written < byteCount {
            let count = min(Int.random(in: 0...1_500, using: &random), byteCount - written)
            piece.removeAll(keepingCapacity: true)
            for place in written..<written + count { piece.append(Self.byte(place)) }
            while !producer.write(piece.span) {
                refusals += 1
                sched_yield()
            }
            written += count
        }
        producer.finish()
        return refusals
    }

    /// Returns the offset of the first byte that was another one's.
    func follow() -> Int? {
        var random = SeededRandom(seed: seed ^ 1)
        var buffer = [UInt8](repeating: 0, count: 2_000)
        var isOver = false
        while !isOver {
            isOver = follower.isFinished
            let end = follower.end
            let offset = Int.random(in: max(0, end - room)...end, using: &random)
            // The follower has no bytes when these have been consumed.
            let count = buffer.withUnsafeMutableBytes { follower.copy(from: offset, into: $0) } ?? 0
            for place in 0..<count where buffer[place] != Self.byte(offset + place) {
                return offset + place
            }
        }
        return nil
    }

    func read() -> Result {
        var random = SeededRandom(seed: ~seed)
        var result = Result()
        while true {
            let isLast = consumer.isFinished
            var isEmpty = true
            _ = consumer.consume { span in
                isEmpty = false
                result.most = max(result.most, span.count)
                let used = Int.random(in: 0...span.count, using: &random)
                for index in 0..<used where span[index] != Self.byte(result.received + index) {
                    result.firstWrong = result.firstWrong ?? result.received + index
                }
                result.received += used
                return used
            }
            if isLast && isEmpty { return result }
            if isEmpty { sched_yield() }
        }
    }
}
