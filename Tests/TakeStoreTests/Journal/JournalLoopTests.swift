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
        let loop = try JournalLoop()
        defer { loop.shutDown() }
        let sync = try SyncLoop()
        let sealed = Observed([Int: JournalSeal]())
        let takes = (0..<200).map { JournalLoopTake(seed: seed &+ UInt64($0)) }
        for (number, take) in takes.enumerated() {
            let name = "\(number).wav"
            let journal = Journal(
                file: PlainFile(try folder.createFile(name)), path: scratch.path + name)
            let stage = JournalStage(
                take.ring.takeConsumer(), into: journal, mark: loop.makeMark(),
                onSeal: { seal in sealed.update { $0[number] = seal } })
            sync.add(journal, filledBy: stage)
            loop.add(stage)
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

    @Test func whoeverWaitsForTheJournalIsToldOfItsGrowthAndItsEnd() throws {
        let grown = try Wakeup()
        let sealed = try Wakeup()
        let ring = ByteRing(minimumCapacity: 4_096)
        let producer = ring.takeProducer()
        let journal = Journal(file: PlainFile(try makeNamelessFile()), path: nil)
        let loop = try JournalLoop()
        defer { loop.shutDown() }
        loop.add(
            JournalStage(
                ring.takeConsumer(), into: journal, mark: loop.makeMark(),
                onGrow: { grown.signal() }, onSeal: { _ in sealed.signal() }))
        _ = producer.write([1].span)
        loop.wake()
        try #require(takeStoreWait(for: grown))
        #expect(journal.byteCount == 1)
        producer.finish()
        loop.wake()
        try #require(takeStoreWait(for: sealed))
        #expect(journal.isSealed)
    }

    @Test func aSyncThatHangsDelaysNoAppendAndNoRead() throws {
        let scratch = try TemporaryFolder()
        let release = try Wakeup()
        let began = try Wakeup()
        let drained = try Wakeup()
        let sync = try SyncLoop()
        sync.perform {
            began.signal()
            _ = takeStoreWait(for: release)
        }
        try #require(takeStoreWait(for: began))
        let ring = ByteRing(minimumCapacity: 4_096)
        let producer = ring.takeProducer()
        let journal = Journal(
            file: PlainFile(try scratch.folder().createFile("audio.wav")), path: scratch.path,
            ring: ring.makeFollower())
        let loop = try JournalLoop()
        let stage = JournalStage(
            ring.takeConsumer(), into: journal, mark: loop.makeMark(),
            onDrain: { drained.signal() })
        sync.add(journal, filledBy: stage)
        loop.add(stage)
        for round in 1...20 {
            let isStored = producer.write([UInt8](repeating: UInt8(round), count: 1_000).span)
            #expect(isStored)
            #expect(try journal.look(at: round * 1_000 - 1) == .bytes(1))
            var isDrained = producer.awaitDrain()
            loop.wake()
            while !isDrained {
                try #require(takeStoreWait(for: drained))
                isDrained = producer.awaitDrain()
            }
            #expect(journal.writtenByteCount == round * 1_000)
            #expect(try journal.look(at: round * 1_000 - 1) == .bytes(1))
        }
        #expect(journal.durableByteCount == 0)
        loop.shutDown()
        release.signal()
        sync.shutDown()
        #expect(journal.durableByteCount == 20_000)
    }

    @Test func aRingThatNobodyCallsForIsCarriedBeforeEachSync() throws {
        let scratch = try TemporaryFolder()
        let ring = ByteRing(minimumCapacity: 4_096)
        let producer = ring.takeProducer()
        let journal = Journal(
            file: PlainFile(try scratch.folder().createFile("audio.wav")), path: scratch.path)
        let seals = Mutex<[JournalSeal]>([])
        let stage = JournalStage(
            ring.takeConsumer(), into: journal, mark: Mark(in: Marks()),
            onSeal: { seal in seals.withLock { $0.append(seal) } })
        let clock = Mutex(ContinuousClock.now)
        var worker = SyncWorker(now: { clock.withLock { $0 } })
        worker.receive(.tend(SyncWorker.Entry(journal: journal, stage: stage, onChange: {})))
        for round in 1...3 {
            let isStored = producer.write([1, 2, 3].span)
            #expect(isStored)
            if round == 3 { producer.finish() }
            clock.withLock { $0 += .milliseconds(200) }
            while worker.turn(isLast: false) == .goesOn {}
            #expect(journal.durableByteCount == 3 * round)
        }
        #expect(journal.isSettled)
        // Whoever comes later finds nothing to do.
        #expect(stage.turn() == .done)
        #expect(seals.withLock { $0.map(\.byteCount) } == [9])
    }

    @Test func whatTheRingHoldsAtTheShutDownReachesTheJournal() throws {
        let drained = try Wakeup()
        let ring = ByteRing(minimumCapacity: 4_096)
        let producer = ring.takeProducer()
        let journal = Journal(file: PlainFile(try makeNamelessFile()), path: nil)
        let loop = try JournalLoop()
        loop.add(
            JournalStage(
                ring.takeConsumer(), into: journal, mark: loop.makeMark(),
                onDrain: { drained.signal() }))
        var isStored = producer.write([7].span)
        if !producer.awaitDrain() {
            loop.wake()
            try #require(takeStoreWait(for: drained))
        }
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
        let loop = try JournalLoop()
        defer { loop.shutDown() }
        loop.add(
            JournalStage(
                take.ring.takeConsumer(), into: journal, mark: loop.makeMark(),
                onSeal: { seal in seals.update { $0.append(seal) } }))
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
        var worker = JournalWorker()
        var (journals, growth): ([Journal], [Int]) = ([], [])
        let sealed = Mutex<[String]>([])
        for (name, byteCount) in [("long", 1 << 20), ("short", 1_000)] {
            let ring = ByteRing(minimumCapacity: byteCount)
            let producer = ring.takeProducer()
            let isWritten = producer.write([UInt8](repeating: 1, count: byteCount).span)
            #expect(isWritten)
            producer.finish()
            let journal = Journal(
                file: PlainFile(try folder.createFile(name)), path: scratch.path + name)
            journals.append(journal)
            worker.receive(
                JournalStage(
                    ring.takeConsumer(), into: journal, mark: Mark(in: Marks()),
                    onSeal: { _ in sealed.withLock { $0.append(name) } }))
        }
        var turns = 0
        var sealedInTurn: [String: Int] = [:]
        var pause = WorkerPause.goesOn
        while pause == .goesOn, turns < 100 {
            pause = worker.turn(isLast: false)
            turns += 1
            if growth.last != journals[0].byteCount { growth.append(journals[0].byteCount) }
            for name in sealed.withLock({ $0 }) where sealedInTurn[name] == nil {
                sealedInTurn[name] = turns
            }
        }
        // All of the short one in the first turn, and no more than its share of the long one.
        #expect(growth == (1...8).map { $0 * (128 << 10) })
        #expect(sealedInTurn == ["short": 1, "long": 9])
    }

    @Test(arguments: [1, 10, 300])
    func aTurnLooksAtTheRingsAloneWhoseMarksAreSet(count: Int) throws {
        let marks = Marks()
        var worker = JournalWorker(marks: marks)
        let growth = Marks()
        let takes = try (0..<count).map { _ in
            let (ring, mark) = (ByteRing(minimumCapacity: 4_096), Mark(in: marks))
            let grown = Mark(in: growth)
            let journal = Journal(file: PlainFile(try makeNamelessFile()), path: nil)
            worker.receive(
                JournalStage(
                    ring.takeConsumer(), into: journal, mark: mark, onGrow: { grown.set() }))
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
        #expect(takes.allSatisfy { $0.2.byteCount == 3_200 })
        takes[0].0.write([1])
        takes[0].1.set()
        #expect(worker.turn(isLast: false) == .untilWoken)
        #expect(worker.turn(isLast: false) == .untilWoken)
        #expect(worker.lookCount == 6 * count + 1)
        #expect(growth.taken().count == 1)
    }

    @Test func memoryThatIsFullIsSaidOnceAndTakesTheRestOfTheRing() throws {
        let loop = try JournalLoop()
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
            JournalStage(
                ring.takeConsumer(), into: memory, mark: loop.makeMark(),
                onFull: {
                    fullAt.withLock { $0.append(memory.byteCount) }
                    // As the take does: what was captured by then is the end.
                    producer.finish()
                },
                onSeal: { seal in seals.update { $0.append(seal) } }))
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
