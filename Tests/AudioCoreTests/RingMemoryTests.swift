// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore

/// A ring as another process finds it, whose own process was killed at any moment.
@Suite struct RingMemoryTests {
    /// The bytes of a ring's memory, as its file has them.
    private static func contents(of memory: RingMemory) -> [UInt8] {
        Array(
            UnsafeRawBufferPointer(
                start: memory.base, count: RingMemory.headerByteCount + memory.capacity))
    }

    /// Large memory is given back where it was consumed.
    @Test(arguments: [4_096, 65_536]) func whatIsNotConsumedIsFound(_ room: Int) throws {
        var random = SeededRandom()
        let memory = RingMemory(minimumCapacity: room)
        let ring = ByteRing(memory)
        let producer = ring.takeProducer()
        let consumer = ring.takeConsumer()
        var stream: [UInt8] = []
        var consumed = 0
        for _ in 0..<2_000 {
            let bytes = random.bytes(.random(in: 0..<room / 4, using: &random))
            let isWritten = producer.write(bytes.span)
            if isWritten { stream += bytes }
            let most = Int.random(in: 0..<room / 3, using: &random)
            consumed += consumer.consume { min($0.count, most) }
            let remains = try #require(RingRemains(Self.contents(of: memory)))
            #expect(remains.offset == consumed, "seed \(random.seed)")
            #expect(remains.bytes == Array(stream[consumed...]), "seed \(random.seed)")
        }
        #expect(stream.count > 20 * memory.capacity)
    }

    @Test func theTextIsFound() throws {
        let text = (0..<RingMemory.longestText).map { UInt8(truncatingIfNeeded: $0) }
        let base = UnsafeMutableRawPointer.allocate(
            byteCount: RingMemory.headerByteCount + 4_096, alignment: 4_096)
        let memory = RingMemory(base, capacity: 4_096, text: text) { $0.deallocate() }
        #expect(try #require(RingRemains(Self.contents(of: memory))).text == text)
    }

    /// A file of another version, one that is torn or cut, and numbers that no ring has.
    @Test func whatIsNoRingIsNotRead() {
        let file = Self.contents(of: RingMemory(minimumCapacity: 4_096))
        #expect(RingRemains(file) != nil)
        #expect(RingRemains([]) == nil)
        #expect(RingRemains(Array(file.dropLast())) == nil)
        for (place, byte) in [
            (0, 9), (8, 9), (15, 0x80), (23, 0x80), (71, 0x80), (130, 1),
        ] {
            var other = file
            other[place] = UInt8(byte)
            #expect(RingRemains(other) == nil, "byte \(place)")
        }
        var random = SeededRandom()
        for _ in 0..<2_000 {
            var other = file
            for _ in 0..<4 {
                other[Int.random(in: 8..<RingMemory.Place.text, using: &random)] = UInt8.random(
                    in: .min ... .max, using: &random)
            }
            // Whatever it says, it is read within its bounds.
            #expect(RingRemains(other).map { $0.bytes.count <= 4_096 } ?? true)
        }
    }
}
