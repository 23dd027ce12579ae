// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform

@Suite struct FolderLockTests {
    /// A process that is just being started has copies of all descriptors until it runs its program.
    @Test func aLockEndsWithItsOwnerWhateverHasACopyOfIt() throws {
        let folder = try TemporaryFolder()
        let copy: Int32
        do {
            let held = try Folder.make(at: folder.path)
            #expect(try held.lock())
            #expect(try !Folder.make(at: folder.path).lock())
            copy = dup(held.descriptor.number)
        }
        defer { close(copy) }
        #expect(try Folder.make(at: folder.path).lock())

        let path = folder.path + "/file"
        let other: Int32
        do {
            let lock = try FileLock(path: path, until: .now)
            #expect(throws: SystemError.self) { _ = try FileLock(path: path, until: .now) }
            other = dup(lock.file.number)
        }
        defer { close(other) }
        _ = try FileLock(path: path, until: .now)
    }
}

@Suite struct FileSpaceTests {
    @Test(
        arguments: [
            (0, 4_096, 0), (10, 4_096, 40_960), (UInt.max, 4_096, Int.max), (UInt.max, 1, Int.max),
            (1 << 52, 4_096, Int.max),
        ] as [(UInt, UInt, Int)])
    func roomOfAnySizeIsCounted(_ blocks: UInt, _ size: UInt, _ bytes: Int) {
        var status = statvfs()
        (status.f_bavail, status.f_frsize) = (blocks, size)
        #expect(status.freeByteCount == bytes)
    }
}
