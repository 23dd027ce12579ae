// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import TakeStore

/// What is left of a take on a disk that cannot be read.
@Suite struct JournalRescueTests {
    private let scratch: TemporaryFolder
    private let file: FailingFile
    private let journal: Journal

    init() throws {
        scratch = try TemporaryFolder()
        file = FailingFile(try scratch.folder().createFile("audio.wav"))
        journal = Journal(file: file, path: scratch.path + "/folder/audio.wav")
    }

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
        let beginning: [UInt8] = [9, 9]
        #expect(try journal.export(to: other, beginning: beginning, insteadOf: 4_097) < 200_000)
        let copy = try readFile(other)
        #expect(copy.count == 200_003 - 4_095)
        #expect(copy.starts(with: beginning + [7, 7]))
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
}
