// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxPlatform
import Synchronization
import TestSupport
import Testing

@testable import Cryptography
@testable import TakeStore

@Suite struct EncryptedFileTests {
    @Test func whatIsAppendedIsThereAtOnceAndNotInClear() throws {
        let scratch = try EncryptedFileScratch()
        let plain = PlainFile(try makeNamelessFile())
        let file = try EncryptedFile(new: plain, key: scratch.key, take: scratch.take)
        #expect(try file.piece(at: 0, 10) == [])
        let text = Array("the quick brown fox jumps over the lazy dog".utf8)
        try file.write(text.span, at: 0)
        // As a program that is killed now would leave it.
        let left = try plain.contents()
        #expect(try scratch.open(left).contents() == text)
        #expect(left.ranges(of: Array("fox".utf8)).isEmpty)
        #expect(left.count == EncryptedFileHeader.byteCount + FrameHeader.overhead + text.count)
        #expect(try file.contents() == text)
        #expect(try file.piece(at: 4, 5) == Array("quick".utf8))
    }

    @Test func theFormatIsTheOneThatIsDocumented() throws {
        let scratch = try EncryptedFileScratch()
        let bytes = try scratch.bytes(of: [[1, 2, 3], [4, 5]])
        #expect(Array(bytes[..<16]) == Array("utterenc".utf8) + [1, 0, 0, 0, 0, 0, 0, 0])
        #expect(Array(bytes[16..<24]) == scratch.key.identifier)
        #expect(Array(bytes[88..<100]) == [1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0])
        #expect(Array(bytes[119..<131]) == [2, 0, 0, 0, 2, 0, 3, 0, 0, 0, 0, 0])
        #expect(Array(bytes[149..<161]) == [3, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0])
        #expect(bytes.count == 88 + 31 + 30 + 28)
        let header = FrameHeader(number: 0x0403_0201, length: 0x0605, offset: 0x0C0B_0A09_0807)
        #expect(header.bytes == Array(1...12))
        #expect(FrameHeader(header.bytes.span) == header)
    }

    @Test func noTwoFilesAreAlike() throws {
        let scratch = try EncryptedFileScratch()
        let (first, second) = (try scratch.bytes(of: [[1]]), try scratch.bytes(of: [[1]]))
        #expect(first[100...] != second[100...])
    }

    @Test func anotherKeyAnotherTakeAndAnotherVersionAreToldApart() throws {
        let scratch = try EncryptedFileScratch()
        let bytes = try scratch.bytes(of: [[1, 2, 3]])
        let other = try #require(EncryptionKey(secret: Array(2...33)))
        #expect(throws: EncryptionError.wrongKey) { try scratch.open(bytes, key: other) }
        let id = "20261121-052234-k3f9q2m7x4tz"
        #expect(throws: EncryptionError.damagedHeader) { try scratch.open(bytes, take: id) }
        #expect(throws: EncryptionError.laterVersion(3)) {
            try scratch.open(bytes.flipped(8, bit: 2))
        }
        #expect(throws: EncryptionError.damagedHeader) { try scratch.open([]) }
    }

    @Test func everyFlippedBitIsNoticedAndCostsItsFrameOnly() throws {
        let scratch = try EncryptedFileScratch()
        let appends = [10, 1, 30, 7].map { [UInt8](repeating: UInt8($0), count: $0) }
        let bytes = try scratch.bytes(of: appends)
        for index in bytes.indices {
            for bit in [1, 0x80] as [UInt8] {
                let altered = bytes.flipped(index, bit: bit)
                guard index >= EncryptedFileHeader.byteCount else {
                    #expect(throws: EncryptionError.self) { try scratch.open(altered) }
                    continue
                }
                var (audio, lost, start) = ([UInt8](), [Range<Int>](), 88)
                for append in appends {
                    let end = start + FrameHeader.overhead + append.count
                    let isHit = (start..<end).contains(index)
                    if isHit { lost.append(audio.count..<audio.count + append.count) }
                    audio += isHit ? append.map { _ in 0 } : append
                    start = end
                }
                let file = try scratch.open(altered)
                #expect(try file.contents() == audio, "byte \(index)")
                #expect(file.damage == lost, "byte \(index)")
                // The mark of the end is a frame too.
                #expect(file.isFinished == (index < start), "byte \(index)")
            }
        }
    }

    @Test func everyTruncationLeavesTheLongestWholePrefix() throws {
        let scratch = try EncryptedFileScratch()
        var random = TakeStoreRandom(state: 7)
        let appends = [10, 1, 30, 7].map { random.bytes($0) }
        let bytes = try scratch.bytes(of: appends)
        for count in EncryptedFileHeader.byteCount...bytes.count {
            var (audio, end) = ([UInt8](), EncryptedFileHeader.byteCount)
            for append in appends {
                guard end + FrameHeader.overhead + append.count <= count else { break }
                audio += append
                end += FrameHeader.overhead + append.count
            }
            let file = try scratch.open(Array(bytes[..<count]))
            #expect(try file.contents() == audio, "cut at \(count)")
            #expect(file.audioByteCount == audio.count)
            #expect(file.damage == [])
            #expect(file.isFinished == (count == bytes.count))
            if count < bytes.count { #expect(file.fileByteCount == end) }
        }
    }

    @Test func aHoleOfAnySizeIsMeasuredExactly() throws {
        let scratch = try EncryptedFileScratch()
        var random = TakeStoreRandom(state: 8)
        let appends = (0..<60).map { _ in random.bytes(640) }
        var bytes = try scratch.bytes(of: appends)
        // A block of the disk that was never written reads as zeros.
        for index in 8_192..<12_288 { bytes[index] = 0 }
        let file = try scratch.open(bytes)
        let frame = 640 + FrameHeader.overhead
        let lost = (8_192 - 88) / frame * 640..<((12_287 - 88) / frame + 1) * 640
        #expect(file.damage == [lost])
        let audio = appends.flatMap { $0 }
        let found = try file.contents()
        #expect(Array(found[..<lost.lowerBound]) == Array(audio[..<lost.lowerBound]))
        #expect(found[lost].allSatisfy { $0 == 0 })
        #expect(Array(found[lost.upperBound...]) == Array(audio[lost.upperBound...]))
        #expect(file.isFinished)
        // From anywhere, too.
        for offset in stride(from: 0, to: audio.count, by: 501) {
            let piece = try file.piece(at: offset, 1_000)
            #expect(!piece.isEmpty && piece == Array(found[offset..<offset + piece.count]))
        }
    }

    @Test func framesThatWereCutOutDoubledOrExchangedAreNoticed() throws {
        let scratch = try EncryptedFileScratch()
        let appends = [[1, 1, 1], [2, 2, 2], [3, 3, 3]] as [[UInt8]]
        let bytes = try scratch.bytes(of: appends)
        let head = Array(bytes[..<88])
        let frames = (0..<3).map { Array(bytes[88 + 31 * $0..<119 + 31 * $0]) }
        let end = Array(bytes[181...])
        let cut = try scratch.open(head + frames[0] + frames[2] + end)
        #expect(cut.damage == [3..<6])
        #expect(try cut.contents() == [1, 1, 1, 0, 0, 0, 3, 3, 3])
        let doubled = try scratch.open(head + frames[0] + frames[0] + frames[1] + frames[2] + end)
        #expect(try doubled.contents() == [1, 1, 1, 2, 2, 2, 3, 3, 3])
        let exchanged = try scratch.open(head + frames[1] + frames[0] + frames[2] + end)
        #expect(try exchanged.contents() == [0, 0, 0, 2, 2, 2, 3, 3, 3])
        #expect(exchanged.damage == [0..<3])
        let foreign = try scratch.bytes(of: appends)
        let mixed = try scratch.open(head + frames[0] + Array(foreign[119..<150]) + frames[2] + end)
        #expect(try mixed.contents() == [1, 1, 1, 0, 0, 0, 3, 3, 3])
    }

    @Test func anyAppendsAreReadBackFromAnywhere() throws {
        let scratch = try EncryptedFileScratch()
        let seed = UInt64.random(in: 0 ... .max)
        var random = TakeStoreRandom(state: seed)
        let plain = PlainFile(try makeNamelessFile())
        let file = try EncryptedFile(new: plain, key: scratch.key, take: scratch.take)
        var model: [UInt8] = []
        for _ in 0..<100 {
            let longest = Int.random(in: 0..<20, using: &random) == 0 ? 200_000 : 2_000
            let append = random.bytes(Int.random(in: 1...longest, using: &random))
            try file.write(append.span, at: model.count)
            model += append
            for _ in 0..<4 {
                let offset = Int.random(in: 0..<model.count, using: &random)
                let piece = try file.piece(at: offset, Int.random(in: 1...5_000, using: &random))
                #expect(
                    !piece.isEmpty && piece == Array(model[offset..<offset + piece.count]),
                    "seed \(seed)")
            }
        }
        try file.trim()
        #expect(try file.contents(limit: 70_000) == model, "seed \(seed)")
        let again = try scratch.open(try plain.contents())
        #expect(again.damage == [] && again.isFinished)
        #expect(try again.contents(limit: 333) == model, "seed \(seed)")
        #expect(try again.piece(at: model.count, 1) == [])
    }

    @Test func aWriteThatFailedIsRepeatedWithAnotherNonce() throws {
        let scratch = try EncryptedFileScratch()
        let memory = PlainFile(try makeNamelessFile())
        let torn = TornFile(memory)
        let file = try EncryptedFile(new: torn, key: scratch.key, take: scratch.take)
        try file.write([1, 2, 3].span, at: 0)
        torn.room.store(20, ordering: .relaxed)
        #expect(throws: SystemError.self) { try file.write([4, 4, 4, 4].span, at: 3) }
        let tornBytes = try memory.contents()
        #expect(Array(tornBytes[119...]).count == 20)
        torn.room.store(.max, ordering: .relaxed)
        try file.write([5].span, at: 3)
        let bytes = try memory.contents()
        #expect(Array(bytes[119..<123]) == [3, 0, 0, 0])
        #expect(try file.contents() == [1, 2, 3, 5])
        #expect(try scratch.open(bytes).contents() == [1, 2, 3, 5])
    }

    @Test func nothingIsAppendedToAFileOfAnEarlierRun() throws {
        let scratch = try EncryptedFileScratch()
        let file = try scratch.open(try scratch.bytes(of: [[1]], isFinished: false))
        #expect(throws: SystemError(call: "write", code: EINVAL)) {
            try file.write([2].span, at: 1)
        }
    }

    @Test func readersFollowTheWriter() throws {
        let scratch = try EncryptedFileScratch()
        let plain = PlainFile(try makeNamelessFile())
        let file = try EncryptedFile(new: plain, key: scratch.key, take: scratch.take)
        let journal = Journal(file: file, path: "in memory")
        var random = TakeStoreRandom(state: 9)
        let bytes = random.bytes(1_000_000)
        let readers = try JournalReaders(of: journal, expecting: bytes)
        var offset = 0
        while offset < bytes.count {
            let count = min(Int.random(in: 1...9_000, using: &random), bytes.count - offset)
            try journal.append(bytes.span.extracting(offset..<offset + count))
            offset += count
        }
        journal.seal()
        #expect(readers.problems() == [])
        try file.trim()
        #expect(try scratch.open(try plain.contents()).isFinished)
    }

    @Test func theIndexOfAnHourIsBounded() throws {
        var index = FrameIndex()
        for frame in 0..<360_000 {
            index.note(FramePosition(file: 88 + 348 * frame, audio: 320 * frame))
        }
        #expect(index.positionCount <= 4_096)
        for offset in stride(from: 0, to: 360_000 * 320, by: 777_777) {
            let found = try #require(index.lastFrame(before: offset))
            #expect(found.audio <= offset && offset - found.audio <= 128 * 320)
            #expect(found.file == 88 + 348 * (found.audio / 320))
        }
    }
}

/// A file whose disk takes a part of a write and then no more.
private final class TornFile: JournalFile {
    private let file: PlainFile
    let room = Atomic(Int.max)

    init(_ file: PlainFile) { self.file = file }

    func write(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError) {
        let room = room.load(ordering: .relaxed)
        try file.write(bytes.extracting(first: min(room, bytes.count)), at: offset)
        guard room >= bytes.count else { throw SystemError(call: "write", code: ENOSPC) }
    }

    func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        try file.read(at: offset, into: buffer)
    }

    func sync() throws(SystemError) {}
}
