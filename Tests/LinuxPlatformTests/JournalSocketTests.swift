// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform

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
