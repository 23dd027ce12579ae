// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Cryptography
@testable import LinuxPlatform
@testable import TakeStore

@Suite struct EncryptedFileTests {
    private let scratch: EncryptedFileScratch

    init() throws { scratch = try EncryptedFileScratch() }

    @Test func whatIsAppendedIsThereAtOnceAndNotInClear() throws {
        let (plain, file) = try scratch.makeFile()
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
        let bytes = try scratch.bytes(of: [[1, 2, 3], [4, 5]])
        #expect(Array(bytes[..<16]) == Array("utterenc".utf8) + [1, 0, 0, 0, 0, 0, 0, 0])
        #expect(Array(bytes[16..<24]) == Array("utterbox".utf8))
        #expect(Array(bytes[24..<48]) == [1] + [UInt8](repeating: 0, count: 23))
        #expect(Array(bytes[120..<132]) == [1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0])
        #expect(Array(bytes[151..<163]) == [2, 0, 0, 0, 2, 0, 3, 0, 0, 0, 0, 0])
        #expect(Array(bytes[181..<193]) == [3, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0])
        #expect(bytes.count == 120 + 31 + 30 + 28)
        let header = FrameHeader(number: 0x0403_0201, length: 0x0605, offset: 0x0C0B_0A09_0807)
        #expect(header.bytes == Array(1...12))
        #expect(FrameHeader(header.bytes.span) == header)
    }

    @Test func noTwoFilesAreAlike() throws {
        let (first, second) = (try scratch.bytes(of: [[1]]), try scratch.bytes(of: [[1]]))
        #expect(first[132...] != second[132...])
    }

    @Test func anotherKeyAnotherTakeAndAnotherVersionAreToldApart() throws {
        let bytes = try scratch.bytes(of: [[1, 2, 3]])
        let other = try EncryptionKey(bytes: Array(2...33))
        #expect(throws: EncryptionError.wrongKey) { try scratch.open(bytes, key: other) }
        let id = "20261121-052234-k3f9q2m7x4tz"
        #expect(throws: EncryptionError.wrongKey) { try scratch.open(bytes, take: id) }
        #expect(throws: EncryptionError.laterVersion(3)) {
            try scratch.open(bytes.flipped(8, bit: 2))
        }
        #expect(throws: EncryptionError.damaged) { try scratch.open([]) }
    }

    @Test func everyFlippedBitIsNoticed() throws {
        let appends = [10, 1, 30, 7].map { [UInt8](repeating: UInt8($0), count: $0) }
        let bytes = try scratch.bytes(of: appends)
        let (audio, frames) = (appends.flatMap { $0 }, frames(of: appends))
        for index in bytes.indices {
            for bit in [1, 0x80] as [UInt8] {
                let altered = bytes.flipped(index, bit: bit)
                guard index >= EncryptedFileHeader.byteCount else {
                    // Damage is told from a wrong key, wherever it is.
                    let error = #expect(throws: EncryptionError.self) {
                        try scratch.open(altered)
                    }
                    #expect(error != .wrongKey, "byte \(index)")
                    continue
                }
                let file = try scratch.open(altered)
                let found = try file.contents()
                // What is read is what was written, or named and silent.
                for place in found.indices
                where !file.damage.contains(where: { $0.contains(place) }) {
                    #expect(found[place] == audio[place], "byte \(index)")
                }
                let hit = frames.first { $0.place.contains(index) }
                let isHeader = hit.map { index < $0.place.lowerBound + FrameHeader.byteCount }
                switch isHeader {
                case false?:
                    #expect(file.damage == hit.map { [$0.audio] }, "byte \(index)")
                    #expect(file.isFinished && found.count == audio.count, "byte \(index)")
                case true?:
                    // Its length may lead astray, to the end of the block.
                    #expect(found.count >= (hit?.audio.lowerBound ?? .max), "byte \(index)")
                case nil:
                    // The mark of the end is a frame too.
                    #expect(found == audio && !file.isFinished, "byte \(index)")
                }
            }
        }
    }

    @Test func everyTruncationLeavesTheLongestWholePrefix() throws {
        var random = SeededRandom(seed: 7)
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

    /// The appends of a row of periods, with their frames' places in the file.
    private func frames(of appends: [[UInt8]]) -> [(place: Range<Int>, audio: Range<Int>)] {
        var (file, audio) = (EncryptedFileHeader.byteCount, 0)
        var frames: [(Range<Int>, Range<Int>)] = []
        for append in appends {
            var rest = append.count
            while rest > 0 {
                // No frame crosses a block, and none is without audio.
                if 4_096 - file % 4_096 <= FrameHeader.overhead { file += 4_096 - file % 4_096 }
                let count = min(rest, 4_096 - file % 4_096 - FrameHeader.overhead)
                let end = file + count + FrameHeader.overhead
                frames.append((file..<end, audio..<audio + count))
                (file, audio, rest) = (end, audio + count, rest - count)
            }
        }
        return frames
    }

    @Test(arguments: [8_192..<12_288, 200..<210, 120..<132, 4_096..<4_108, 130..<30_000])
    func aHoleOfAnySizeIsMeasuredExactly(_ hole: Range<Int>) throws {
        var random = SeededRandom(seed: 8)
        let appends = (0..<60).map { _ in random.bytes(640) }
        var bytes = try scratch.bytes(of: appends)
        // A block of the disk that was never written reads as zeros.
        for index in hole { bytes[index] = 0 }
        let file = try scratch.open(bytes)
        // The header of a frame leads behind it; without one, the next block goes on.
        let frames = frames(of: appends)
        let hit = frames.filter { $0.place.overlaps(hole) }
        let last = try #require(hit.last)
        let headerEnd = last.place.lowerBound + FrameHeader.byteCount
        let isLost = hole.overlaps(last.place.lowerBound..<headerEnd)
        let resumed = frames.first {
            $0.place.lowerBound >= hole.upperBound
                && (!isLost || $0.place.lowerBound % 4_096 == 0)
        }
        let start = try #require(hit.first).audio.lowerBound
        let lost = start..<(try #require(resumed).audio.lowerBound)
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
        let appends = [[1, 1, 1], [2, 2, 2], [3, 3, 3]] as [[UInt8]]
        let bytes = try scratch.bytes(of: appends)
        let head = Array(bytes[..<120])
        let frames = (0..<3).map { Array(bytes[120 + 31 * $0..<151 + 31 * $0]) }
        let end = Array(bytes[213...])
        let cut = try scratch.open(head + frames[0] + frames[2] + end)
        #expect(cut.damage == [3..<6])
        #expect(try cut.contents() == [1, 1, 1, 0, 0, 0, 3, 3, 3])
        let doubled = try scratch.open(head + frames[0] + frames[0] + frames[1] + frames[2] + end)
        #expect(try doubled.contents() == [1, 1, 1, 2, 2, 2, 3, 3, 3])
        let exchanged = try scratch.open(head + frames[1] + frames[0] + frames[2] + end)
        #expect(try exchanged.contents() == [0, 0, 0, 2, 2, 2, 3, 3, 3])
        #expect(exchanged.damage == [0..<3])
        let foreign = try scratch.bytes(of: appends)
        let mixed = try scratch.open(head + frames[0] + Array(foreign[151..<182]) + frames[2] + end)
        #expect(try mixed.contents() == [1, 1, 1, 0, 0, 0, 3, 3, 3])
    }

    @Test func anyAppendsAreReadBackFromAnywhere() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededRandom(seed: seed)
        let (plain, file) = try scratch.makeFile()
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
        let torn = FailingFile(try makeNamelessFile())
        let file = try EncryptedFile(new: torn, key: scratch.key, take: scratch.take)
        try file.write([1, 2, 3].span, at: 0)
        // 20 bytes of the next frame.
        torn.faults.room = 171
        #expect(throws: SystemError.self) { try file.write([4, 4, 4, 4].span, at: 3) }
        #expect(try torn.contents().count == 171)
        torn.faults.room = .max
        try file.write([5].span, at: 3)
        let bytes = try torn.contents()
        #expect(Array(bytes[151..<155]) == [3, 0, 0, 0])
        #expect(try file.contents() == [1, 2, 3, 5])
        #expect(try scratch.open(bytes).contents() == [1, 2, 3, 5])
    }

    @Test func nothingIsAppendedToAFileOfAnEarlierRun() throws {
        let file = try scratch.open(try scratch.bytes(of: [[1]], isFinished: false))
        #expect(throws: SystemError(call: "write", code: EINVAL)) {
            try file.write([2].span, at: 1)
        }
    }

    @Test func readersFollowTheWriter() throws {
        let (plain, file) = try scratch.makeFile()
        let journal = Journal(file: file, path: "in memory")
        var random = SeededRandom(seed: 9)
        let bytes = random.bytes(1_000_000)
        let readers = try JournalReaders(of: journal, expecting: bytes)
        try journal.append(bytes, upTo: 9_000, &random)
        journal.seal()
        #expect(readers.problems() == [])
        try file.trim()
        #expect(try scratch.open(try plain.contents()).isFinished)
    }
}

/// An encrypted file in memory, whose bytes can be altered.
private struct EncryptedFileScratch {
    let key: EncryptionKey
    let take = "20261121-052233-k3f9q2m7x4tz"

    init() throws { key = try EncryptionKey(bytes: Array(1...32)) }

    func makeFile() throws -> (PlainFile, EncryptedFile) {
        let plain = PlainFile(try makeNamelessFile())
        return (plain, try EncryptedFile(new: plain, key: key, take: take))
    }

    /// The bytes of a file of these appends, with the mark of its end.
    func bytes(of appends: [[UInt8]], isFinished: Bool = true) throws -> [UInt8] {
        let (plain, file) = try makeFile()
        var offset = 0
        for append in appends {
            try file.write(append.span, at: offset)
            offset += append.count
        }
        if isFinished { try file.trim() }
        return try plain.contents(from: 0)
    }

    /// Opens a file of these bytes.
    func open(
        _ bytes: [UInt8], key: EncryptionKey? = nil, take: String? = nil
    ) throws -> EncryptedFile {
        let plain = PlainFile(try makeNamelessFile())
        try plain.write(bytes.span, at: 0)
        return try EncryptedFile.open(
            plain, size: bytes.count, key: key ?? self.key, take: take ?? self.take)
    }
}

extension JournalFile {
    /// Everything from an offset on, read in pieces of at most `limit` bytes.
    func contents(from offset: Int = 0, limit: Int = 4_096) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let piece = try piece(at: offset + bytes.count, limit)
            if piece.isEmpty { return bytes }
            bytes += piece
        }
    }

    func piece(at offset: Int, _ limit: Int) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0xEE, count: limit)
        let count = try buffer.withUnsafeMutableBytes { try read(at: offset, into: $0) }
        return Array(buffer[..<count])
    }
}

/// An hour of 10 ms appends, encrypted and not.
@Suite struct EncryptedHourTests {
    private static let appends = 360_000
    private static let size = 320

    @Test(.enabled(if: getenv("UTTER_SOAK") != nil, "takes a quarter of a gigabyte"))
    func anHourNeedsLittleMemoryAndTime() throws {
        let scratch = try TemporaryFolder()
        let folder = try scratch.folder()
        let key = try EncryptionKey(bytes: Array(1...32))
        let id = try #require(TakeID("20261121-052233-k3f9q2m7x4tz"))
        let plain = try measure(PlainFile(try folder.createFile("plain")))
        let before = residentBytes
        let file = try EncryptedFile(
            new: PlainFile(try folder.createFile("encrypted")), key: key, take: id.text)
        let encrypted = try measure(file)
        let after = residentBytes
        #expect(after - before < 4 << 20)
        print("append \(plain.append) plain, \(encrypted.append) encrypted")
        print("tail read \(plain.tail) plain, \(encrypted.tail) encrypted")
        print("read again \(plain.again) plain, \(encrypted.again) encrypted")
        print("memory \(after - before) bytes")
        let clock = ContinuousClock()
        let size = try folder.byteCount(of: "encrypted")
        let opening = try clock.measure {
            let opened = try EncryptedFile.open(
                PlainFile(try folder.openFile("encrypted")), size: size, key: key, take: id.text)
            #expect(opened.audioByteCount == Self.appends * Self.size)
            #expect(opened.damage == [])
        }
        print("open and check \(opening)")
        #expect(residentBytes - after < 4 << 20)
    }

    /// Appends an hour, and reads each append as soon as it is there, then all of it.
    private func measure(
        _ file: some JournalFile
    ) throws -> (append: Duration, tail: Duration, again: Duration) {
        let clock = ContinuousClock()
        var bytes = [UInt8](repeating: 0, count: Self.size)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var (append, tail) = (Duration.zero, Duration.zero)
        for index in 0..<Self.appends {
            bytes[index % Self.size] &+= 1
            append += try clock.measure { try file.write(bytes.span, at: index * Self.size) }
            tail += try clock.measure {
                _ = try buffer.withUnsafeMutableBytes {
                    try file.read(at: index * Self.size, into: $0)
                }
            }
            try #require(buffer[..<Self.size].elementsEqual(bytes))
        }
        let again = try clock.measure {
            var offset = 0
            while offset < Self.appends * Self.size {
                offset += try buffer.withUnsafeMutableBytes { try file.read(at: offset, into: $0) }
            }
            #expect(offset == Self.appends * Self.size)
        }
        return (append / Self.appends, tail / Self.appends, again)
    }

    private var residentBytes: Int {
        // Always there.
        let text = (try? readFile("/proc/self/statm")).map { String(decoding: $0, as: UTF8.self) }
        return (text?.split(separator: " ")[1]).flatMap { Int($0) }.map { $0 * 4_096 } ?? 0
    }
}
