// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import TakeStore

/// What the sync thread brings back to a disk that had failed.
@Suite struct JournalUpkeepTests {
    private let scratch: TemporaryFolder
    private let folder: Folder
    private let later = ContinuousClock.now + .seconds(2)

    init() throws {
        scratch = try TemporaryFolder()
        folder = try scratch.folder()
    }

    private var home: JournalHome {
        JournalHome(
            makeFile: { [folder] () throws(SystemError) in
                try folder.removeFile("new")
                return PlainFile(try folder.createFile("new"))
            },
            replaceAudio: { [folder] () throws(SystemError) in
                try folder.renameFile("new", to: "audio.wav")
            })
    }

    private func failing(
        _ change: (inout FailingFile.Faults) -> Void
    ) throws -> (FailingFile, Journal) {
        var faults = FailingFile.Faults()
        change(&faults)
        let file = FailingFile(try folder.createFile("audio.wav"), faults)
        let path = scratch.path + "/folder/audio.wav"
        return (file, Journal(file: file, path: path, home: home))
    }

    private var audio: [UInt8] { get throws { try scratch.read("folder/audio.wav") } }

    /// So many bytes, which count upwards, are in the take's file alone, and durable.
    private func expectMended(
        _ journal: Journal, _ byteCount: UInt8,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(journal.condition.failure == nil, sourceLocation: sourceLocation)
        #expect(try audio == [UInt8](0..<byteCount), sourceLocation: sourceLocation)
        #expect(try journal.contents() == [UInt8](0..<byteCount), sourceLocation: sourceLocation)
        #expect(try folder.names() == ["audio.wav"], sourceLocation: sourceLocation)
        #expect(journal.isSettled, sourceLocation: sourceLocation)
        #expect(journal.durableByteCount == Int(byteCount), sourceLocation: sourceLocation)
    }

    @Test func aFullDiskThatHasRoomAtTheSealGetsTheBytesFromMemory() throws {
        let (file, journal) = try failing { $0.room = 100 }
        try journal.append([UInt8](0..<90).span)
        try journal.append([UInt8](90..<150).span)
        journal.sync()
        #expect(journal.condition.failure?.code == ENOSPC)
        #expect(journal.durableByteCount == 90)
        file.faults.room = .max
        // Nothing goes back and forth: what follows is in memory, too.
        journal.sync(at: later)
        try journal.append([UInt8](150..<200).span)
        journal.sync(at: later + .seconds(2))
        #expect(journal.durableByteCount == 90)
        #expect(journal.condition.failure != nil)
        #expect(try journal.contents() == [UInt8](0..<200))
        journal.seal()
        journal.sync(at: later + .seconds(4))
        try expectMended(journal, 200)
    }

    @Test func aDiskThatFillsAgainLosesNothing() throws {
        let (file, journal) = try failing { $0.room = 50 }
        try journal.append([UInt8](0..<150).span)
        journal.seal()
        file.faults.room = 110
        journal.sync()
        #expect(journal.condition.failure?.code == ENOSPC)
        #expect(try journal.contents() == [UInt8](0..<150))
        file.faults.room = .max
        // No sooner than a second after the try that failed.
        journal.sync()
        #expect(!journal.isSettled)
        journal.sync(at: later)
        try expectMended(journal, 150)
    }

    @Test func afterAFailedSyncTheWholeTakeGoesToANewFileAtTheSeal() throws {
        let (file, journal) = try failing { _ in }
        try journal.append([UInt8](0..<100).span)
        journal.sync()
        try journal.append([UInt8](100..<150).span)
        file.faults.syncError = EIO
        journal.sync()
        let count = file.syncCount
        #expect(journal.condition.failure?.code == EIO)
        try journal.append([UInt8](150..<160).span)
        journal.sync()
        try journal.append([UInt8](160..<170).span)
        #expect(journal.condition.failure != nil)
        #expect(try folder.names() == ["audio.wav"])
        journal.seal()
        journal.sync()
        // The failed descriptor is never synced again.
        #expect(file.syncCount == count)
        try expectMended(journal, 170)
    }

    @Test func aSyncThatFailsAfterTheSealIsMendedAsWell() throws {
        let (file, journal) = try failing { $0.syncError = EIO }
        try journal.append([UInt8](0..<100).span)
        journal.seal()
        journal.sync()
        #expect(file.syncCount == 1)
        try expectMended(journal, 100)
    }

    @Test func aWriteThatFailedForAnotherReasonIsNotRepeatedInThatFile() throws {
        let (file, journal) = try failing { faults in
            faults.room = 100
            faults.writeError = EIO
        }
        try journal.append([UInt8](0..<150).span)
        file.faults.room = .max
        journal.seal()
        journal.sync()
        #expect(file.syncCount == 0)
        try expectMended(journal, 150)
    }

    @Test func whatNoDiskTakesIsTriedOnceASecond() throws {
        let (file, journal) = try failing { $0.room = 0 }
        try journal.append([1, 2].span)
        journal.seal()
        let writes = file.writeCount
        let begin = ContinuousClock.now
        for milliseconds in stride(from: 0, through: 10_000, by: 200) {
            journal.sync(at: begin + .milliseconds(milliseconds))
        }
        #expect(file.writeCount - writes == 11)
        #expect(!journal.isSettled)
        #expect(journal.condition.failure?.code == ENOSPC)
        #expect(try journal.contents() == [1, 2])
    }

    @Test func anAbandonedTakeIsLeftAlone() throws {
        let (file, journal) = try failing { $0.room = 0 }
        try journal.append([1].span)
        journal.seal()
        journal.abandon()
        file.faults.room = .max
        journal.sync()
        #expect(journal.isSettled)
        #expect(try audio == [])
    }

    @Test func aFolderThatIsRemovedUnderTheTakeIsMadeAnewAtTheSeal() throws {
        let store = try TakeStore(stateFolder: scratch.path + "/state")
        var random = SeededRandom(seed: 3)
        let id = TakeID(at: Date(), using: &random)
        let take = try store.makeTake(id)
        let journal = try take.makeJournal(fileName: "audio.wav")
        try journal.append([1, 2, 3].span)
        journal.sync()
        let state = scratch.path + "/state"
        try #require(rename(state, scratch.path + "/gone") == 0)
        try #require(system("rm -rf '\(scratch.path)/gone'") == 0)
        try journal.append([4].span)
        journal.sync()
        #expect(journal.condition.failure?.code == ENOENT)
        try journal.append([5].span)
        journal.sync()
        #expect(access(state, F_OK) != 0)
        journal.seal()
        journal.sync()
        #expect(journal.condition.failure == nil)
        #expect(journal.isSettled)
        #expect(try scratch.read("state/takes/\(id.text)/audio.wav") == [1, 2, 3, 4, 5])
        try take.save(
            TakeManifest(
                id: id, created: .distantPast, audio: "audio.wav", format: "pcm", source: "test",
                url: ""))
        #expect(try take.fileNames() == ["audio.wav", "take.json"])
        // It is ours still.
        let other = try TakeStore(stateFolder: state).take(id)
        #expect(try !other.lock())
    }

    // MARK: - Room ahead

    @Test func theDiskKeepsRoomAheadAndTheSizeIsTrueAtAnyMoment() throws {
        let (file, journal) = try failing { _ in }
        let path = scratch.path + "/folder/audio.wav"
        var byteCount = 0
        for _ in 0..<40 {
            try journal.append([UInt8](repeating: 1, count: 50_000).span)
            byteCount += 50_000
            journal.sync()
            let (size, room) = try extent(of: path)
            #expect(size == byteCount)
            #expect(room >= byteCount + Journal.reserveStep / 4)
        }
        #expect(file.reserveCount < 10)
        journal.seal()
        journal.sync()
        let (size, room) = try extent(of: path)
        #expect(size == byteCount)
        #expect(room < byteCount + 65_536)
    }

    private func extent(of path: String) throws -> (size: Int, room: Int) {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return (Int(status.st_size), Int(status.st_blocks) * 512)
    }

    @Test(arguments: [ENOSPC, EDQUOT, EFBIG])
    func aDiskThatIsNearlyFullIsKnownBeforeItIs(code: Int32) throws {
        let (file, journal) = try failing { $0.reserveError = code }
        try journal.append([1].span)
        journal.sync()
        #expect(journal.condition.shortage?.error.code == code)
        #expect((journal.condition.shortage?.freeByteCount ?? 0) > 0)
        // What was written is safe.
        #expect(journal.condition.failure == nil)
        #expect(journal.durableByteCount == 1)
        file.faults.reserveError = nil
        journal.sync(at: later)
        #expect(journal.condition.shortage == nil)
    }

    @Test(arguments: [EOPNOTSUPP, ENOSYS, EINVAL])
    func aFileSystemThatCannotReserveIsAskedOnce(code: Int32) throws {
        let (file, journal) = try failing { $0.reserveError = code }
        for round in 1...3 {
            try journal.append([1].span)
            journal.sync(at: later + .seconds(round))
        }
        #expect(file.reserveCount == 1)
        #expect(journal.condition == JournalCondition())
        #expect(journal.durableByteCount == 3)
    }

    @Test func onlyWhatIsMeantForTheDiskWaitsForIt() throws {
        let (_, journal) = try failing { _ in }
        for journal in [journal, Journal()] {
            journal.note(slow: .seconds(2))
            #expect(journal.condition.slowSync == (journal.path == nil ? nil : .seconds(2)))
        }
    }

    // MARK: - The bound of memory

    @Test func memoryIsFullAtItsBoundAndTakesTheRestOfTheRing() throws {
        let journal = Journal(
            file: PlainFile(try makeNamelessFile()), path: nil, memoryLimit: 1_000)
        let piece = [UInt8](repeating: 7, count: 100_000)
        try journal.append(piece.span.extracting(first: 999))
        #expect(!journal.isFull)
        try journal.append([1].span)
        #expect(journal.isFull)
        while journal.byteCount + piece.count <= 1_000 + Journal.memoryReserve {
            try journal.append(piece.span)
        }
        let byteCount = journal.byteCount
        #expect(throws: SystemError(call: "memory of one take", code: ENOMEM)) {
            try journal.append(piece.span)
        }
        #expect(journal.byteCount == byteCount)
        #expect(try journal.contents().count == byteCount)
    }

    @Test func onlyWhatIsInMemoryCounts() throws {
        let file = FailingFile(try folder.createFile("audio.wav"))
        let journal = Journal(file: file, path: "audio.wav", home: home, memoryLimit: 1_000)
        try journal.append([UInt8](repeating: 1, count: 5_000).span)
        #expect(!journal.isFull)
        file.faults.room = 0
        try journal.append([UInt8](repeating: 1, count: 999).span)
        #expect(!journal.isFull)
        try journal.append([1].span)
        #expect(journal.isFull)
    }

    // MARK: - Any order

    @Test func whateverTheDiskDoesEveryByteIsReadAndInTheEndIsInTheFile() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededRandom(seed: seed)
        let bytes = random.bytes(1_500_000)
        let file = FailingFile(try folder.createFile("audio.wav"))
        let current = Mutex<FailingFile>(file)
        let home = JournalHome(
            makeFile: { [folder] () throws(SystemError) in
                try folder.removeFile("new")
                let file = FailingFile(try folder.createFile("new"))
                current.withLock { $0 = file }
                return file
            },
            replaceAudio: { [folder] () throws(SystemError) in
                try folder.renameFile("new", to: "audio.wav")
            })
        let journal = Journal(file: file, path: "audio.wav", home: home)
        let hasFinished = Atomic(false)
        let sync = try NamedThread(name: "sync") {
            var random = SeededRandom(seed: ~seed)
            var clock = ContinuousClock.now
            while !hasFinished.load(ordering: .acquiring) || !journal.isSettled {
                let isCalm = hasFinished.load(ordering: .acquiring)
                let fault = isCalm ? 9 : Int.random(in: 0..<10, using: &random)
                current.withLock { file in
                    file.faults = FailingFile.Faults()
                    switch fault {
                    case 0: file.faults.syncError = EIO
                    case 1: file.faults.room = journal.byteCount
                    case 2: (file.faults.room, file.faults.writeError) = (0, EIO)
                    default: break
                    }
                }
                clock += .milliseconds(400)
                journal.sync(at: clock)
            }
        }
        let readers = try JournalReaders(of: journal, expecting: bytes, count: 1)
        try journal.append(bytes, upTo: 3_000, &random)
        journal.seal()
        hasFinished.store(true, ordering: .releasing)
        sync.join()
        #expect(readers.problems() == [], "seed \(seed)")
        #expect(journal.condition.failure == nil, "seed \(seed)")
        #expect(journal.durableByteCount == bytes.count, "seed \(seed)")
        #expect(try audio == bytes, "seed \(seed)")
    }
}
