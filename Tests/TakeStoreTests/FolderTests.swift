// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform

@Suite struct FolderTests {
    private let scratch: TemporaryFolder
    private let folder: Folder

    init() throws {
        scratch = try TemporaryFolder()
        folder = try scratch.folder()
    }

    /// The umask, the current folder and the number of descriptors are the process's, of which other
    /// tests open some meanwhile: hence a process of its own.
    @Test func aProcessMakesPrivateFoldersFromWhereItIsAndLeavesNoDescriptorOpen() async {
        await #expect(processExitsWith: .success) {
            let scratch = try TemporaryFolder()
            let before = try Folder.make(at: "/proc/self/fd").names().count
            for _ in 0..<20 {
                let folder = try scratch.folder()
                try folder.replaceFile("a", with: [1])
                _ = try folder.contents(of: "a", limit: 10)
                _ = try folder.names()
                _ = try folder.makeFolder("inner").names()
                #expect(throws: SystemError.self) { try folder.contents(of: "b", limit: 10) }
                #expect(throws: SystemError.self) { try folder.contents(of: "a", limit: 0) }
                _ = try Wakeup()
                _ = try SignalDescriptor(signals: [SIGUSR1])
                let thread = try NamedThread(name: "test") {}
                thread.join()
                thread.join()
            }
            // The runtime opens a few of its own; a leak would be one a round at least.
            #expect(try Folder.make(at: "/proc/self/fd").names().count < before + 20)

            try #require(chdir(scratch.path) == 0)
            _ = try Folder.make(at: "state/of/utter")
            #expect(try scratch.mode("state/of/utter") == 0o700)

            for mask: mode_t in [0o000, 0o022, 0o077, 0o277] {
                let scratch = try TemporaryFolder()
                umask(mask)
                defer { umask(0o022) }
                let folder = try Folder.make(at: scratch.path + "/a/b/c")
                let inner = try folder.makeFolder("inner")
                _ = try inner.createFile("audio.wav")
                try inner.replaceFile("take.json", with: [1])
                #expect(try scratch.mode("a/b/c") == 0o700)
                #expect(try scratch.mode("a/b/c/inner") == 0o700)
                #expect(try scratch.mode("a/b/c/inner/audio.wav") == 0o600)
                #expect(try scratch.mode("a/b/c/inner/take.json") == 0o600)
                #expect(try scratch.mode("a") == 0o700)
            }
        }
    }

    @Test func aFolderThatExistsIsOpenedAgain() throws {
        try folder.replaceFile("a", with: [1])
        #expect(try scratch.folder().names() == ["a"])
    }

    @Test func aSymbolicLinkIsRefused() throws {
        _ = try scratch.folder("real")
        try #require(symlink(scratch.path + "/real", scratch.path + "/link") == 0)
        let error = try #require(throws: SystemError.self) { try scratch.folder("link") }
        #expect([ENOTDIR, ELOOP].contains(error.code))
        let folder = try Folder.make(at: scratch.path)
        #expect(throws: SystemError.self) { try folder.makeFolder("link") }
        #expect(throws: SystemError.self) { try folder.openFolder("link") }
        try scratch.write([1], to: "real/file")
        try #require(symlink("real/file", scratch.path + "/file") == 0)
        let file = #expect(throws: SystemError.self) { _ = try folder.openFile("file") }
        #expect(file?.code == ELOOP)
        let created = #expect(throws: SystemError.self) { _ = try folder.createFile("file") }
        #expect(created?.code == EEXIST)
    }

    @Test func aFileInPlaceOfTheFolderIsRefused() throws {
        try scratch.write([1], to: "file")
        let error = #expect(throws: SystemError.self) { try scratch.folder("file") }
        #expect(error?.code == ENOTDIR)
        let inner = #expect(throws: SystemError.self) { try scratch.folder("file/inner") }
        #expect(inner?.code == ENOTDIR)
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives folders away"))
    func aFolderOfSomebodyElseIsRefused() throws {
        try #require(chown(scratch.path + "/folder", 65_534, 65_534) == 0)
        let error = #expect(throws: SystemError.self) { try scratch.folder() }
        #expect(error?.code == EPERM)
        #expect(
            error?.description
                == "\(scratch.path)/folder belongs to another user: Operation not permitted")
    }

    @Test func whoWaitsForTheLockIsToldWhenItIsFree() async throws {
        let (holder, other) = (folder, try scratch.folder())
        #expect(try holder.lock())
        #expect(try !other.lock())
        async let isFree = other.waitForLock(until: .now + .seconds(3_600))
        holder.unlock()
        #expect(try await isFree)
        // It was only waited for.
        #expect(try holder.lock())
    }

    @Test func theWaitForALockHasAnEnd() async throws {
        let (holder, other) = (folder, try scratch.folder())
        #expect(try holder.lock())
        #expect(try await !other.waitForLock(until: .now))
        #expect(try await !other.waitForLock(until: .now + .milliseconds(20)))
        // A process that has waited in vain keeps nothing.
        holder.unlock()
        let deadline = ContinuousClock.now + .patience
        while try !other.lock() {
            #expect(try await other.waitForLock(until: deadline))
        }
    }

    @Test func aFileIsCreatedOnce() throws {
        _ = try folder.createFile("audio.wav")
        let error = #expect(throws: SystemError.self) { _ = try folder.createFile("audio.wav") }
        #expect(error?.code == EEXIST)
    }

    @Test func aReplacedFileIsTheNewOneWholeOrTheOldOne() throws {
        try folder.replaceFile("take.json", with: Array(repeating: 1, count: 10_000))
        try folder.replaceFile("take.json", with: [2, 2])
        #expect(try folder.contents(of: "take.json", limit: 100) == [2, 2])
        #expect(try folder.names() == ["take.json"])
        // A folder stands where the new file would be made.
        _ = try folder.makeFolder("take.json.new")
        #expect(throws: SystemError.self) { try folder.replaceFile("take.json", with: [3]) }
        #expect(try folder.contents(of: "take.json", limit: 100) == [2, 2])
    }

    @Test func whatACrashLeftOfAReplacementIsReplaced() throws {
        try folder.replaceFile("take.json", with: [1])
        // The crash came after half of the new file was written: the old one is whole.
        try scratch.write([2, 2, 2, 2, 2], to: "folder/take.json.new")
        #expect(try folder.contents(of: "take.json", limit: 100) == [1])
        try folder.replaceFile("take.json", with: [3])
        #expect(try folder.contents(of: "take.json", limit: 100) == [3])
        #expect(try folder.names() == ["take.json"])
    }

    @Test func aReaderNeverSeesHalfAReplacement() throws {
        try folder.replaceFile("take.json", with: Array(repeating: 0, count: 5_000))
        let done = try Wakeup()
        let writer = try NamedThread(name: "writer") { [folder] in
            for value in UInt8(1)...100 {
                // A failure shows in the last contents.
                try? folder.replaceFile("take.json", with: Array(repeating: value, count: 5_000))
            }
            done.signal()
        }
        var last: UInt8 = 0
        while last < 100 {
            let bytes = try folder.contents(of: "take.json", limit: 5_000)
            let value = try #require(bytes.first)
            #expect(bytes == Array(repeating: value, count: 5_000))
            #expect(value >= last)
            last = value
        }
        #expect(takeStoreWait(for: done))
        writer.join()
    }

    @Test func aFileLongerThanTheLimitAndANamedPipeAreRefusedAtOnce() throws {
        try folder.replaceFile("a", with: [1, 2, 3])
        #expect(try folder.contents(of: "a", limit: 3) == [1, 2, 3])
        let error = #expect(throws: SystemError.self) { try folder.contents(of: "a", limit: 2) }
        #expect(error?.code == EFBIG)
        try #require(mkfifo(scratch.path + "/folder/take.json", 0o600) == 0)
        #expect(throws: SystemError.self) { try folder.contents(of: "take.json", limit: 10) }
    }

    @Test func namesAreSorted() throws {
        var expected: [String] = []
        for number in stride(from: 299, through: 100, by: -1) {
            _ = try folder.createFile("name-\(number)")
            expected.insert("name-\(number)", at: 0)
        }
        #expect(try folder.names() == expected)
        #expect(try folder.names() == expected)
    }

    @Test func removingWhatIsMissingIsNoError() throws {
        try folder.removeFile("nothing")
        try folder.removeFolder("nothing")
        _ = try folder.makeFolder("inner").createFile("file")
        let error = #expect(throws: SystemError.self) { try folder.removeFolder("inner") }
        #expect(error?.code == ENOTEMPTY)
    }
}
