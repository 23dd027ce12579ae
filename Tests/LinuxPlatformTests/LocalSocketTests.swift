// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform

@Suite struct LocalSocketTests {
    @Test func aSocketIsItsOwnersAloneAndReplacesWhatIsThere() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("socket")
        for _ in 0..<2 {
            let listener = try LocalSocket.listen(at: path)
            var status = stat()
            #expect(lstat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            #expect(status.st_mode & S_IFMT == S_IFSOCK)
            #expect(LocalSocket.isListening(listener.number))
        }
        #expect(try folder.names(in: ".") == ["socket"])
    }

    @Test func bothSidesKnowEachOther() throws {
        let folder = try TemporaryFolder()
        let listener = try LocalSocket.listen(at: folder.path("socket"))
        let client = try LocalSocket.connect(to: folder.path("socket"), within: .seconds(1))
        guard let server = try LocalSocket.accept(from: listener.number) else {
            Issue.record("there is no client")
            return
        }
        let (there, here) = (
            try LocalSocket.peer(of: server.number), try LocalSocket.peer(of: client.number)
        )
        #expect(there.user == geteuid() && there.process == getpid())
        #expect(here.user == geteuid())
        #expect(try LocalSocket.receive(from: server.number) == nil)
        #expect(try LocalSocket.send(Array("word".utf8)[...], to: client.number) == 4)
        #expect(try LocalSocket.receive(from: server.number) == Array("word".utf8))
    }

    @Test func whereNothingListensIsAnErrorOfItsOwn() throws {
        let folder = try TemporaryFolder()
        #expect(
            code { _ = try LocalSocket.connect(to: folder.path("none"), within: .seconds(1)) }
                == ENOENT)
        try leaveStaleSocket(at: folder.path("stale"))
        #expect(
            code { _ = try LocalSocket.connect(to: folder.path("stale"), within: .seconds(1)) }
                == ECONNREFUSED)
    }

    @Test func aPathThatIsTooLongIsRefused() throws {
        let long = "/tmp/" + String(repeating: "x", count: 110)
        #expect(code { _ = try LocalSocket.connect(to: long, within: .seconds(1)) } == ENAMETOOLONG)
    }

    private func code(_ connect: () throws -> Void) -> Int32? {
        do {
            try connect()
            return nil
        } catch {
            return (error as? SystemError)?.code
        }
    }

    @Test func aLockIsHeldByOneAtATime() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("lock")
        do {
            let lock = try FileLock(path: path, until: .now)
            #expect(throws: SystemError.self) { _ = try FileLock(path: path, until: .now) }
            withExtendedLifetime(lock) {}
        }
        _ = try FileLock(path: path, until: .now)
    }

    @Test func aNameThatAppearsIsNoticedAlsoBeforeTheWait() async throws {
        let folder = try TemporaryFolder()
        let watch = try FolderWatch(folder.path)
        _ = try folder.write([], to: "new")
        // It would wait for ever.
        watch.wait(within: nil)
    }
}
