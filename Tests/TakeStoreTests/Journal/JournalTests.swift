// SPDX-License-Identifier: Apache-2.0

import AudioCore
import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import TakeStore

@Suite struct JournalTests {
    private let scratch: TemporaryFolder
    private let folder: Folder
    private let file: FailingFile
    /// In that file.
    private let journal: Journal
    private var path: String { scratch.path + "/folder/audio.wav" }

    init() throws {
        scratch = try TemporaryFolder()
        folder = try scratch.folder()
        file = FailingFile(try folder.createFile("audio.wav"))
        journal = Journal(file: file, path: scratch.path + "/folder/audio.wav")
    }

    private func device(_ path: String) throws -> OwnedDescriptor {
        let number = open(path, O_RDWR | O_CLOEXEC)
        try #require(number >= 0)
        return OwnedDescriptor(taking: number)
    }

    @Test func aJournalHasNothingYetUntilItIsSealed() throws {
        let journal = Journal()
        #expect(try journal.look(at: 0) == .nothingYet)
        try journal.append([1, 2, 3].span)
        #expect(try journal.look(at: 0) == .bytes(3))
        #expect(try journal.look(at: 1, limit: 1) == .bytes(1))
        #expect(try journal.look(at: 3) == .nothingYet)
        #expect(try journal.look(at: 4) == .nothingYet)
        #expect(!journal.isSealed)
        journal.seal()
        #expect(journal.isSealed)
        #expect(try journal.look(at: 2) == .bytes(1))
        #expect(try journal.look(at: 3) == .end)
        #expect(journal.byteCount == 3)
    }

    @Test func anEmptyJournalThatIsSealedIsAtItsEnd() throws {
        let journal = Journal()
        journal.seal()
        #expect(try journal.look(at: 0) == .end)
    }

    @Test func aSealedJournalOfAnEarlierRunIsReadAgain() throws {
        try scratch.write([1, 2, 3, 4], to: "folder/audio.wav")
        let journal = Journal(
            sealed: PlainFile(try folder.openFile("audio.wav")), byteCount: 4, path: "audio.wav")
        #expect(try journal.contents() == [1, 2, 3, 4])
        #expect(try journal.look(at: 4) == .end)
        #expect(journal.durableByteCount == 4)
        // A file that was cut from outside is an error, and no end.
        try #require(truncate(path, 2) == 0)
        #expect(throws: SystemError(call: "read", code: EIO)) { try journal.look(at: 2) }
    }

    @Test func readersSeeOnlyWhatIsWrittenAndAllOfIt() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededRandom(seed: seed)
        let bytes = random.bytes(2_000_000)
        let journal = Journal(file: PlainFile(try folder.createFile("plain.wav")), path: path)
        let readers = try JournalReaders(of: journal, expecting: bytes)
        try journal.append(bytes, upTo: 20_000, &random)
        journal.seal()
        #expect(readers.problems() == [], "seed \(seed)")
    }

    /// A ring that outlives its process is read before the journal has its bytes, and beside it.
    @Test func readersFollowTheRingAndThenTheFile() throws {
        var random = SeededRandom()
        let bytes = random.bytes(2_000_000)
        let ring = ByteRing(minimumCapacity: 1 << 14)
        let journal = Journal(
            file: PlainFile(try folder.createFile("followed.wav")), path: path,
            ring: ring.makeFollower())
        let stage = JournalStage(
            ring.takeConsumer(), into: journal, mark: Mark(in: Marks()))
        let readers = try JournalReaders(of: journal, expecting: bytes)
        let producer = ring.takeProducer()
        var offset = 0
        while offset < bytes.count {
            let count = min(Int.random(in: 1...4_000, using: &random), bytes.count - offset)
            if producer.write(bytes.span.extracting(offset..<offset + count)) { offset += count }
            #expect(journal.byteCount == offset)
            if Int.random(in: 0..<3, using: &random) == 0 { stage.turn() }
        }
        producer.finish()
        while stage.turn() != .done {}
        #expect(readers.problems() == [], "seed \(random.seed)")
        #expect(try journal.contents() == bytes)
    }

    /// Readers have the end of a ring before the disk has its last bytes, and keep it at the seal.
    @Test func aRingThatIsFinishedCompletesItsJournal() throws {
        let ring = ByteRing(minimumCapacity: 16)
        let journal = Journal(file: file, path: path, ring: ring.makeFollower())
        let stage = JournalStage(ring.takeConsumer(), into: journal, mark: Mark(in: Marks()))
        let producer = ring.takeProducer()
        let isWritten = producer.write([1, 2, 3].span)
        #expect(isWritten)
        #expect(try journal.look(at: 3) == .nothingYet && !journal.isComplete)
        producer.finish()
        #expect(journal.isComplete && !journal.isSealed && journal.writtenByteCount == 0)
        #expect(try journal.look(at: 2) == .bytes(1))
        #expect(try journal.look(at: 3) == .end)
        while stage.turn() != .done {}
        #expect(journal.isComplete && journal.isSealed)
        #expect(try journal.look(at: 3) == .end)
        #expect(try journal.contents() == [1, 2, 3])
    }

    @Test func aFullDiskMakesTheTakeGoOnInMemory() throws {
        let journal = Journal(file: PlainFile(try device("/dev/full")), path: "/dev/full")
        try journal.append([1, 2, 3].span)
        #expect(journal.condition.failure == SystemError(call: "write", code: ENOSPC))
        try journal.append([4, 5].span)
        journal.seal()
        #expect(try journal.contents() == [1, 2, 3, 4, 5])
        #expect(try journal.contents(from: 4) == [5])
        #expect(journal.byteCount == 5)
        #expect(journal.durableByteCount == 0)
        journal.sync()
        // It may have room some day.
        #expect(!journal.isSettled)
        #expect(try journal.contents() == [1, 2, 3, 4, 5])
    }

    @Test func whatTheDiskTookBeforeItWasFullIsStillMadeDurable() async {
        // The limit is the process's, hence a process of its own.
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 65_536, rlim_max: 65_536)
            try #require(setrlimit(__rlimit_resource_t(1), &limit) == 0)
            let scratch = try TemporaryFolder()
            let path = scratch.path + "/folder/audio.wav"
            let journal = Journal(
                file: PlainFile(try scratch.folder().createFile("audio.wav")), path: path)
            var random = SeededRandom(seed: 1)
            let bytes = random.bytes(100_000)
            var failedAt: Int?
            for start in stride(from: 0, to: bytes.count, by: 1_000) {
                try journal.append(bytes.span.extracting(start..<start + 1_000))
                if journal.condition.failure != nil { failedAt = failedAt ?? start }
            }
            #expect(failedAt == 65_000)
            #expect(journal.condition.failure == SystemError(call: "write", code: EFBIG))
            journal.seal()
            #expect(!journal.isSettled)
            journal.sync()
            #expect(journal.durableByteCount == 65_000)
            #expect(try journal.contents() == bytes)
            #expect(try journal.contents(from: 64_999) == Array(bytes[64_999...]))
            // What the disk holds is the beginning of the take, a part of a write included.
            #expect(try scratch.read("folder/audio.wav") == Array(bytes[..<65_536]))
        }
    }

    @Test func aDiskThatFailedToSyncIsNotTrustedAgain() throws {
        try journal.append(Array(1...100).span)
        journal.sync()
        #expect(journal.durableByteCount == 100)
        try journal.append(Array(101...150).span)
        file.faults.syncError = EIO
        journal.sync()
        file.faults.syncError = nil
        #expect(journal.condition.failure == SystemError(call: "fdatasync", code: EIO))
        #expect(journal.durableByteCount == 100)
        try journal.append(Array(151...200).span)
        journal.sync()
        #expect(journal.durableByteCount == 100)
        // The disk forgets what it had not confirmed.
        try #require(truncate(path, 100) == 0)
        journal.seal()
        #expect(try journal.contents() == Array(1...200))
        #expect(try journal.contents(from: 120) == Array(121...200))
        journal.sync()
        #expect(journal.isSettled)
    }

    @Test func aDiskThatFailedTheLastSyncIsCopiedBeforeTheSeal() throws {
        file.faults.syncError = EIO
        try journal.append(Array(1...100).span)
        journal.sync()
        journal.seal()
        try #require(truncate(path, 0) == 0)
        #expect(try journal.contents() == Array(1...100))
    }

    @Test func whatADeviceCannotGiveBackIsAnErrorAndTheRestIsThere() throws {
        // Takes every byte, syncs none (EINVAL), gives none back.
        let journal = Journal(file: PlainFile(try device("/dev/null")), path: "/dev/null")
        try journal.append([1, 2, 3].span)
        journal.sync()
        #expect(journal.condition.failure == SystemError(call: "fdatasync", code: EINVAL))
        try journal.append([4, 5].span)
        #expect(try journal.contents(from: 3) == [4, 5])
        #expect(throws: SystemError(call: "read", code: EIO)) { try journal.look(at: 0) }
    }

    @Test func aMemoryFileIsNeverSynced() throws {
        let file = FailingFile(try makeNamelessFile())
        let journal = Journal(file: file, path: nil)
        try journal.append([1].span)
        journal.sync()
        journal.seal()
        #expect(file.syncCount == 0)
        #expect(journal.isSettled)
        #expect(journal.durableByteCount == 0)
    }

    // MARK: - A disk that cannot be read

    @Test func whatCannotBeReadFromADeadDiskIsSilentInTheCopyOfTheRest() throws {
        try journal.append([UInt8](repeating: 7, count: 200_000).span)
        journal.sync()
        file.faults.room = 0
        file.faults.writeError = EIO
        file.faults.readableByteCount = 0
        try journal.append([1, 2, 3].span)
        let path = scratch.path + "/copy"
        #expect(try journal.export(to: path) == 200_000)
        #expect(try readFile(path) == [UInt8](repeating: 0, count: 200_000) + [1, 2, 3])
        file.faults.readableByteCount = 8_192
        let other = scratch.path + "/other"
        #expect(try journal.export(to: other, with: [9, 9], insteadOf: 4_097, at: 4_094) < 200_000)
        let copy = try readFile(other)
        #expect(copy.count == 200_003 - 4_095)
        #expect(copy.starts(with: [UInt8](repeating: 7, count: 4_094) + [9, 9, 7, 0]))
        #expect(copy.suffix(4) == [0, 1, 2, 3])
    }

    @Test func aCopyOfWhichNothingCanBeReadLeavesNoFile() throws {
        try journal.append([1, 2, 3].span)
        file.faults.readableByteCount = 0
        #expect(throws: SystemError(call: "read", code: EIO)) {
            try journal.export(to: scratch.path + "/copy")
        }
        #expect(access(scratch.path + "/copy", F_OK) != 0)
    }

    /// The first pieces are copied to memory before one cannot be read.
    @Test func whatFollowsAPartThatCannotBeReadIsInItsPlace() throws {
        try journal.append([UInt8](repeating: 7, count: 200_000).span)
        file.faults.syncError = EIO
        file.faults.readableByteCount = 70_000
        journal.sync()
        try journal.append([1, 2, 3].span)
        var bytes = [UInt8](repeating: 0, count: 10)
        #expect(try bytes.read(from: journal, at: 200_000) == 3)
        #expect(bytes.starts(with: [1, 2, 3]))
    }

    /// It holds the key of an encrypted take.
    @Test func aFileIsSyncedBeforeItHasAnyAudio() throws {
        for _ in 0..<2 { journal.sync() }
        #expect(file.syncCount == 1)
    }

    // MARK: - Memory

    @Test func whatIsWrittenToMemoryInPiecesIsReadInOrder() throws {
        var random = SeededRandom()
        let bytes = WAVBytes.pcm(random.noise(count: 100_000))
        let memory = MemoryFile()
        #expect(try memory.contents().isEmpty)
        for piece in random.pieces(of: bytes.count, upTo: 100_000) {
            try memory.write(bytes.span.extracting(piece), at: piece.lowerBound)
        }
        #expect(try memory.contents(limit: 1_000) == bytes, "seed \(random.seed)")
    }
}
