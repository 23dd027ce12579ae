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
        try leaveStaleSocket(at: folder.path("stale"))
        for (name, code) in [
            ("none", ENOENT), ("stale", ECONNREFUSED),
            (String(repeating: "x", count: 110), ENAMETOOLONG),
        ] {
            let error = #expect(throws: SystemError.self) {
                _ = try LocalSocket.connect(to: folder.path(name), within: .seconds(1))
            }
            #expect(error?.code == code)
        }
    }

    @Test func aNameThatAppearsIsNoticedAlsoBeforeTheWait() async throws {
        let folder = try TemporaryFolder()
        let watch = try FolderWatch(folder.path)
        _ = try folder.write([], to: "new")
        // It would wait for ever.
        watch.wait(within: nil)
    }
}

@Suite struct JournalSocketTests {
    @Test func anEntryHasItsFields() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("journal")
        let listener = OwnedDescriptor(taking: socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) {
                bind(listener.number, $0.baseAddress, socklen_t(bytes.count))
            }
        }
        #expect(bound == 0)
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        var status = stat()
        #expect(fstat(ends[1], &status) == 0)
        let name = "\(status.st_dev):\(status.st_ino)"
        #expect(JournalSocket(leadingFrom: ends[1], named: nil, at: path) == nil)
        #expect(JournalSocket(leadingFrom: ends[1], named: "1:2", at: path) == nil)
        let journal = try #require(JournalSocket(leadingFrom: ends[1], named: name, at: path))
        #expect(journal.take("a\nb", ["TAKE_ID": "x", "ATTEMPT": "2"]))
        var bytes = [UInt8](repeating: 0, count: 1_000)
        let count = recv(listener.number, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        let lines = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n")
        #expect(lines.contains("MESSAGE=a b") && lines.contains("TAKE_ID=x"))
        #expect(lines.contains("ATTEMPT=2") && lines.contains("PRIORITY=6"))
        #expect(lines.count == 5)
        #expect(unlink(path) == 0)
        #expect(!journal.take("c", [:]))
    }
}
