// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AudioCore
@testable import LinuxPlatform
@testable import TakeStore

@Suite struct JournalLoopTests {
    @Test func theFileHoldsTheBytesOfTheRingForTwoHundredTakesAtOnce() throws {
        let scratch = try TemporaryFolder()
        let folder = try scratch.folder()
        let seed = UInt64.random(in: 0 ... .max)
        let loop = try JournalLoop(onAppend: {})
        defer { loop.shutDown() }
        let sync = try SyncLoop()
        let sealed = Observed([Int: JournalSeal]())
        let takes = (0..<200).map { JournalLoopTake(seed: seed &+ UInt64($0)) }
        for (number, take) in takes.enumerated() {
            loop.add(
                ring: take.ring.takeConsumer(),
                open: {
                    Result { () throws(SystemError) in
                        let name = "\(number).wav"
                        let journal = Journal(
                            file: PlainFile(try folder.createFile(name)), path: scratch.path + name)
                        sync.add(journal)
                        return journal
                    }
                }, onGrowth: {},
                onSeal: { seal in sealed.update { $0[number] = seal } })
        }
        var isBusy = true
        while isBusy {
            isBusy = false
            for take in takes where take.write() { isBusy = true }
            loop.wake()
            sched_yield()
        }
        let seals = try #require(
            sealed.waitBlocking(within: .patience) { $0.count == 200 ? $0 : nil }, "seed \(seed)")
        sync.shutDown()
        for (number, take) in takes.enumerated() {
            let seal = try #require(seals[number])
            #expect(seal.byteCount == take.bytes.count, "seed \(seed)")
            #expect(seal.loss == nil)
            #expect(try scratch.read("folder/\(number).wav") == take.bytes, "seed \(seed)")
        }
    }

    @Test func theSealIsTheHashThatSha256sumPrints() throws {
        let scratch = try TemporaryFolder()
        var random = SeededRandom(seed: 7)
        let bytes = random.bytes(300_000)
        let (seal, _) = try carry(bytes, into: scratch.folder().createFile("audio.wav"))
        let path = scratch.path("folder/audio.wav")
        #expect(try ForeignTool("sha256sum").run([path]).text == "\(seal.sha256)  \(path)\n")
    }

    @Test(arguments: [
        // FIPS 180-4, the examples of NIST.
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func theSealOfKnownBytesIsTheirPublishedHash(text: String, hash: String) throws {
        let (seal, journal) = try carry(Array(text.utf8), into: makeNamelessFile())
        #expect(seal == JournalSeal(byteCount: text.utf8.count, sha256: hash, loss: nil))
        #expect(journal.isSealed)
    }

    @Test func aFullDiskLosesNothing() throws {
        var random = SeededRandom(seed: 8)
        let bytes = random.bytes(200_000)
        let number = open("/dev/full", O_RDWR | O_CLOEXEC)
        try #require(number >= 0)
        let (seal, journal) = try carry(
            bytes, into: OwnedDescriptor(taking: number), path: "/dev/full")
        #expect(seal.loss == nil)
        #expect(seal.byteCount == 200_000)
        #expect(try journal.contents() == bytes)
        #expect(journal.condition.failure?.code == ENOSPC)
    }

    @Test func aJournalThatCannotBeOpenedIsALossAndTheRingIsEmptied() throws {
        let ring = ByteRing(minimumCapacity: 4_096)
        let producer = ring.takeProducer()
        let seals = Observed([JournalSeal]())
        let loop = try JournalLoop(onAppend: {})
        defer { loop.shutDown() }
        let failure = SystemError(call: "open", code: EACCES)
        loop.add(
            ring: ring.takeConsumer(), open: { .failure(failure) }, onGrowth: {},
            onSeal: { seal in seals.update { $0.append(seal) } })
        let isStored = producer.write([1, 2, 3].span)
        producer.finish()
        loop.wake()
        let seal = try #require(seals.waitBlocking(within: .patience) { $0.first })
        let free = producer.freeByteCount
        #expect(isStored && free == ring.capacity)
        #expect(seal.loss == failure)
        #expect(seal.byteCount == 0)
    }

    @Test func whoeverWaitsForTheJournalIsToldOfItsGrowthAndItsEnd() throws {
        let grown = try Wakeup()
        let appended = try Wakeup()
        let sealed = try Wakeup()
        let ring = ByteRing(minimumCapacity: 4_096)
        let producer = ring.takeProducer()
        let journal = Journal(file: PlainFile(try makeNamelessFile()), path: nil)
        let before = Mutex<[(Int, Bool)]>([])
        let loop = try JournalLoop(onAppend: { appended.signal() })
        defer { loop.shutDown() }
        loop.add(
            ring: ring.takeConsumer(), open: { .success(journal) },
            onGrowth: { grown.signal() },
            willSeal: { byteCount in before.withLock { $0.append((byteCount, journal.isSealed)) } },
            onSeal: { _ in sealed.signal() })
        _ = producer.write([1].span)
        loop.wake()
        try #require(takeStoreWait(for: grown))
        try #require(takeStoreWait(for: appended))
        #expect(journal.byteCount == 1)
        producer.finish()
        loop.wake()
        try #require(takeStoreWait(for: sealed))
        try #require(takeStoreWait(for: appended))
        #expect(journal.isSealed)
        // No reader has seen the end when it is told that it comes.
        #expect(before.withLock { $0.map { $0 == (1, false) } } == [true])
    }

    @Test func aSyncThatHangsDelaysNoAppendAndNoRead() throws {
        let scratch = try TemporaryFolder()
        let release = try Wakeup()
        let began = try Wakeup()
        let grown = try Wakeup()
        let sync = try SyncLoop()
        sync.perform {
            began.signal()
            _ = takeStoreWait(for: release)
        }
        try #require(takeStoreWait(for: began))
        let journal = Journal(
            file: PlainFile(try scratch.folder().createFile("audio.wav")), path: scratch.path)
        sync.add(journal)
        let ring = ByteRing(minimumCapacity: 4_096)
        let producer = ring.takeProducer()
        let loop = try JournalLoop(onAppend: { grown.signal() })
        loop.add(
            ring: ring.takeConsumer(), open: { .success(journal) }, onGrowth: {},
            onSeal: { _ in })
        for round in 1...20 {
            let isStored = producer.write([UInt8](repeating: UInt8(round), count: 1_000).span)
            loop.wake()
            while journal.byteCount < round * 1_000 { try #require(takeStoreWait(for: grown)) }
            #expect(isStored)
            #expect(try journal.look(at: round * 1_000 - 1) == .bytes(1))
        }
        #expect(journal.durableByteCount == 0)
        loop.shutDown()
        release.signal()
        sync.shutDown()
        #expect(journal.durableByteCount == 20_000)
    }

    @Test func whatTheRingHoldsAtTheShutDownReachesTheJournal() throws {
        let grown = try Wakeup()
        let ring = ByteRing(minimumCapacity: 4_096)
        let producer = ring.takeProducer()
        let journal = Journal(file: PlainFile(try makeNamelessFile()), path: nil)
        let loop = try JournalLoop(onAppend: {})
        loop.add(
            ring: ring.takeConsumer(), open: { .success(journal) }, onGrowth: { grown.signal() },
            onSeal: { _ in })
        var isStored = producer.write([7].span)
        loop.wake()
        try #require(takeStoreWait(for: grown))
        isStored = producer.write([UInt8](repeating: 7, count: 999).span) && isStored
        loop.shutDown()
        #expect(isStored)
        #expect(journal.byteCount == 1_000)
        #expect(!journal.isSealed)
    }

    /// Sends bytes through a small ring into a journal.
    private func carry(
        _ bytes: [UInt8], into file: consuming OwnedDescriptor, path: String? = "audio.wav"
    ) throws -> (JournalSeal, Journal) {
        let seals = Observed([JournalSeal]())
        let journal = Journal(file: PlainFile(file), path: path)
        let take = JournalLoopTake(bytes: bytes)
        let loop = try JournalLoop(onAppend: {})
        defer { loop.shutDown() }
        loop.add(
            ring: take.ring.takeConsumer(), open: { .success(journal) }, onGrowth: {},
            onSeal: { seal in seals.update { $0.append(seal) } })
        while take.write() {
            loop.wake()
            sched_yield()
        }
        loop.wake()
        let seal = try #require(seals.waitBlocking(within: .patience) { $0.first })
        #expect(seals.value.count == 1)
        return (seal, journal)
    }

    @Test func aRingThatIsFullGivesTheNextTakeItsTurn() throws {
        let scratch = try TemporaryFolder()
        let folder = try scratch.folder()
        var worker = JournalWorker(onAppend: {})
        let growth = Mutex<[Int]>([])
        let sealed = Mutex<[String]>([])
        for (name, byteCount) in [("long", 1 << 20), ("short", 1_000)] {
            let ring = ByteRing(minimumCapacity: byteCount)
            let producer = ring.takeProducer()
            let isWritten = producer.write([UInt8](repeating: 1, count: byteCount).span)
            #expect(isWritten)
            producer.finish()
            let journal = Journal(
                file: PlainFile(try folder.createFile(name)), path: scratch.path + name)
            worker.receive(
                JournalStage(
                    ring: SharedRing(ring: ring.takeConsumer()), mark: Mark(in: Marks()),
                    .success(journal),
                    onGrowth: {
                        if name == "long" { growth.withLock { $0.append(journal.byteCount) } }
                    }, onDrain: {}, onFull: {},
                    onSeal: { _ in sealed.withLock { $0.append(name) } }))
        }
        var turns = 0
        var sealedInTurn: [String: Int] = [:]
        var pause = WorkerPause.goesOn
        while pause == .goesOn, turns < 100 {
            pause = worker.turn(isLast: false)
            turns += 1
            for name in sealed.withLock({ $0 }) where sealedInTurn[name] == nil {
                sealedInTurn[name] = turns
            }
        }
        // All of the short one in the first turn, and no more than its share of the long one.
        #expect(growth.withLock { $0 } == (1...8).map { $0 * (128 << 10) })
        #expect(sealedInTurn == ["short": 1, "long": 9])
    }

    @Test(arguments: [1, 10, 300])
    func aTurnLooksAtTheRingsAloneWhoseMarksAreSet(count: Int) throws {
        let marks = Marks()
        let appends = Mutex(0)
        var worker = JournalWorker(marks: marks, onAppend: { appends.withLock { $0 += 1 } })
        let growth = Marks()
        let takes = try (0..<count).map { _ in
            let (ring, mark) = (ByteRing(minimumCapacity: 4_096), Mark(in: marks))
            let journal = Journal(file: PlainFile(try makeNamelessFile()), path: nil)
            worker.receive(
                JournalStage(
                    ring: SharedRing(ring: ring.takeConsumer()), mark: mark, .success(journal),
                    growth: Mark(in: growth), onGrowth: {}, onDrain: {}, onFull: {},
                    onSeal: { _ in }))
            return (RingWriter(ring), mark, journal)
        }
        #expect(worker.turn(isLast: false) == .untilWoken)
        #expect(worker.lookCount == count)
        for period in 1...5 {
            for (writer, mark, _) in takes {
                writer.write([UInt8](repeating: 1, count: 640))
                mark.set()
            }
            #expect(worker.turn(isLast: false) == .untilWoken)
            #expect(worker.lookCount == (1 + period) * count)
            #expect(growth.taken().count == count)
        }
        // The network is woken once in a period.
        #expect(appends.withLock { $0 } == 5)
        #expect(takes.allSatisfy { $0.2.byteCount == 3_200 })
        takes[0].0.write([1])
        takes[0].1.set()
        #expect(worker.turn(isLast: false) == .untilWoken)
        #expect(worker.turn(isLast: false) == .untilWoken)
        #expect(worker.lookCount == 6 * count + 1)
        #expect(growth.taken().count == 1)
    }

    @Test func memoryThatIsFullIsSaidOnceAndTakesTheRestOfTheRing() throws {
        let loop = try JournalLoop(onAppend: {})
        defer { loop.shutDown() }
        let ring = ByteRing(minimumCapacity: 1 << 20)
        let producer = ring.takeProducer()
        let isWritten = producer.write([UInt8](repeating: 1, count: 1 << 20).span)
        #expect(isWritten)
        let memory = Journal(
            file: PlainFile(try makeNamelessFile()), path: nil, memoryLimit: 300_000)
        let fullAt = Mutex<[Int]>([])
        let seals = Observed([JournalSeal]())
        loop.add(
            ring: ring.takeConsumer(), open: { .success(memory) }, onGrowth: {},
            onFull: {
                fullAt.withLock { $0.append(memory.byteCount) }
                // As the take does: what was captured by then is the end.
                producer.finish()
            },
            onSeal: { seal in seals.update { $0.append(seal) } })
        let end = try #require(seals.waitBlocking(within: .patience) { $0.first })
        // At the end of the third turn of 128 KiB.
        #expect(fullAt.withLock { $0 } == [3 * (128 << 10)])
        #expect(end.byteCount == 1 << 20)
        #expect(end.loss == nil)
    }
}

/// Bytes that go into a small ring in pieces of random size, on one thread.
private final class JournalLoopTake {
    let ring = ByteRing(minimumCapacity: 4_096)
    let bytes: [UInt8]
    private let producer: ByteRing.Producer
    private var random: SeededRandom
    private var written = 0
    private var isFinished = false

    convenience init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        self.init(bytes: random.bytes(Int.random(in: 0...20_000, using: &random)), seed: seed)
    }

    init(bytes: [UInt8], seed: UInt64 = 1) {
        self.bytes = bytes
        producer = ring.takeProducer()
        random = SeededRandom(seed: seed)
    }

    /// Writes a piece, if there is room, and the end after the last; false once all is written.
    func write() -> Bool {
        guard !isFinished else { return false }
        if written == bytes.count {
            producer.finish()
            isFinished = true
            return false
        }
        let count = min(Int.random(in: 1...3_000, using: &random), bytes.count - written)
        let piece = Array(bytes[written..<written + count])
        if producer.write(piece.span) { written += count }
        return true
    }
}

/// The writing end of a ring, which an array can hold.
private final class RingWriter {
    private let producer: ByteRing.Producer

    init(_ ring: ByteRing) { producer = ring.takeProducer() }

    func write(_ bytes: [UInt8]) {
        let isStored = producer.write(bytes.span)
        #expect(isStored)
    }
}
