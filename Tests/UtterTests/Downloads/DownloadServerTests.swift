// SPDX-License-Identifier: Apache-2.0

import Cryptography
import TestSupport
import Testing

@testable import Utter

/// Web servers of other hands, over links that break.
@Suite struct DownloadServerTests {
    private static let bytes = (0..<1_000_000).map {
        UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13)
    }

    @Test(arguments: StaticServer.Kind.allCases)
    func aFileIsRightOverAnyLink(_ kind: StaticServer.Kind) async throws {
        let root = try TemporaryFolder()
        try root.write(Self.bytes, to: "a.mp3")
        // The tag of what has just been written is a weak one.
        try ForeignTool("touch").run(["-d", "2020-01-01", root.path("a.mp3")])
        let server = try await StaticServer(kind, of: root)
        // In the head of the answer, in its body, often, and at its end.
        for cuts in [[10], [400], [300_000], [1_000, 300_000, 300_000, 100_000], [999_990]] {
            let proxy = try FaultProxy(
                to: server.port, plans: cuts.map { LinkPlan(LinkFault(.reset, .toClient, at: $0)) })
            let url = "http://127.0.0.1:\(proxy.port)/a.mp3"
            try await DownloadBench().expect(Self.bytes, of: url)
            #expect(proxy.connectionCount == cuts.count + 1)
        }
    }

    @Test(arguments: StaticServer.Kind.allCases)
    func whatHasChangedMeanwhileBeginsAnew(_ kind: StaticServer.Kind) async throws {
        let root = try TemporaryFolder()
        try root.write(Self.bytes, to: "a.mp3")
        let server = try await StaticServer(kind, of: root)
        // On the first connection nothing more comes, so that the cancel comes before the end.
        let silence = LinkPlan(LinkFault(.blackHole, .toClient, at: 300_000))
        let proxy = try FaultProxy(to: server.port, plans: [silence])
        let bench = try DownloadBench()
        let url = "http://127.0.0.1:\(proxy.port)/a.mp3"
        let task = try await bench.begin(url)
        task.cancel()
        let result = await task.value
        #expect(result == .failure(.left), "\(result)")
        let later = Self.bytes.map { ~$0 }.dropLast()
        try root.write(Array(later), to: "a.mp3")
        try ForeignTool("chmod").run(["a+r", root.path("a.mp3")])
        try await bench.expect(Array(later), of: url)
        let unchanged = try await bench.expect(Array(later), of: url)
        #expect(unchanged.isUnchanged)
    }

    @Test func aFileOfAnotherDigestIsRemovedAndBeginsAnew() async throws {
        let server = try FileServer(["/a": .init(Self.bytes)])
        let bench = try DownloadBench()
        var digest = SHA256()
        digest.update(Self.bytes.span)
        let right = digest.hexadecimal
        let url = server.url("/a")
        server.change { $0.files["/a"]?.bytes[7] ^= 1 }
        let wrong = try await bench.fetch(url) { $0.sha256 = right }
        guard case .failure(.unusable(let reason)) = wrong else {
            Issue.record("\(wrong)")
            return
        }
        #expect(reason.hasPrefix("its SHA-256 is ") && reason.hasSuffix(", and not \(right)"))
        #expect(bench.downloads.all().first?.byteCount == 0)
        server.change {
            $0.files["/a"]?.bytes[7] ^= 1
            $0.cuts = [500_000]
        }
        let file = try await bench.fetch(url) { $0.sha256 = right }.get()
        #expect(try readFile(file.path) == Self.bytes)
        #expect(server.requests.map { $0["Range"] } == [nil, nil, "bytes=500000-"])
        // One that is right is not asked for again, and one that was damaged is.
        #expect(try await bench.fetch(url) { $0.sha256 = right }.get().isUnchanged)
        #expect(server.requests.count == 3)
        // It is wanted elsewhere now.
        let place = bench.folder.path("b")
        let moved = try await bench.fetch(url) { ($0.sha256, $0.destination) = (right, place) }
            .get()
        #expect(moved.path == place)
        #expect(try readFile(place) == Self.bytes)
        try bench.folder.write(Array(Self.bytes.reversed()), to: "b")
        let mended = try await bench.fetch(url) { ($0.sha256, $0.destination) = (right, place) }
            .get()
        #expect(!mended.isUnchanged)
        #expect(try readFile(mended.path) == Self.bytes)
    }
}
