// SPDX-License-Identifier: Apache-2.0

import Cryptography
import Glibc
import TestSupport
import Testing

@testable import Downloads
@testable import LinuxPlatform

/// Where a server may lead a download, and where not.
@Suite struct DownloadNetworkTests {
    private let server: FileServer
    private let bench: DownloadBench

    init() throws {
        server = try FileServer(["/a": .init([1, 2, 3])])
        bench = try DownloadBench()
    }

    @Test(arguments: [
        "http://127.0.0.1:PORT/a", "http://localhost:PORT/a", "http://[::ffff:127.0.0.1]:PORT/a",
        "http://[::127.0.0.1]:PORT/a", "http://0.0.0.0:PORT/a", "http://127.1.2.3:PORT/a",
        "http://[fe80::1]/a", "http://169.254.169.254/latest", "http://10.0.0.1/a",
        "http://[64:ff9b::127.0.0.1]/a", "http://2130706433:PORT/a", "http://0x7f.1:PORT/a",
    ])
    func noRedirectLeadsIntoTheOwnNetwork(_ location: String) async throws {
        let other = try FileServer(["/a": .init([1])])
        let location = location.replacing("PORT", with: "\(other.server.port)")
        server.change { $0.moves["/b"] = (302, location) }
        #expect(try await bench.fetch(server.url("/b")).isAvoided)
        #expect(other.requests.isEmpty && other.server.connectionCount == 0)
    }

    @Test func aNameThatTurnsOutToBeHereIsNotConnectedTo() async throws {
        let port = server.server.port
        let host = "http://talks.example:\(port)"
        let resolution = try HostResolution("talks.example:\(port):127.0.0.1")
        let found = try await bench.fetch(host + "/a") { $0.connection.resolutions = [resolution] }
        #expect(found == .failure(.ownNetwork(host: host, address: "127.0.0.1")))
        #expect(server.server.connectionCount == 0)
        let allowed = try await bench.fetch(host + "/a") {
            $0.connection.resolutions = [resolution]
            $0.ownOrigins = [try Origin(host)]
        }
        #expect(try allowed.get().byteCount == 3)
    }

    @Test func aTokenGoesToTheTypedOriginAlone() async throws {
        let other = try FileServer(["/a": .init([1])])
        server.change {
            $0.moves["/b"] = (302, "/c")
            $0.moves["/c"] = (307, other.url("/a"))
        }
        let fetch = { (path: String) async throws in
            try await bench.fetch(server.url(path)) {
                $0.credential = try Credential(secret: "sesame")
                $0.ownOrigins = [try Origin(other.url(""))]
            }.get()
        }
        #expect(try await fetch("/b").byteCount == 1)
        #expect(server.requests.map { $0["Authorization"] } == ["Bearer sesame", "Bearer sesame"])
        #expect(other.requests.map { $0["Authorization"] } == [nil])
        // A path that another origin has chosen is not opened.
        other.change { $0.moves["/back"] = (302, server.url("/a")) }
        server.change { $0.moves["/e"] = (302, other.url("/back")) }
        #expect(try await fetch("/e").byteCount == 3)
        #expect(server.requests.last?["Authorization"] == nil)
    }

    @Test func aTokenDoesNotTravelInTheClear() async throws {
        let found = try await bench.fetch("http://talks.example/a") {
            $0.credential = try Credential(secret: "sesame")
        }
        let words = "it would travel in the clear to http://talks.example"
        #expect(found == .failure(.token(words)))
    }

    @Test func aHostThatIsReachedWithoutTheProxyIsCheckedByItsAddress() async throws {
        let proxy = try await ProxyServer()
        let port = server.server.port
        let host = "http://talks.example:\(port)"
        let resolution = try HostResolution("talks.example:\(port):127.0.0.1")
        let found = try await bench.fetch(host + "/a") {
            $0.connection.proxy = try Proxy(proxy.url)
            ($0.connection.proxyExceptions, $0.connection.resolutions) = (["example"], [resolution])
        }
        #expect(found == .failure(.ownNetwork(host: host, address: "127.0.0.1")))
        #expect(server.server.connectionCount == 0)
    }

    @Test func throughAProxyTheCheckIsSaidToBeImpossible() async throws {
        // The proxy looks the name up, wherever that leads; this one has the file itself.
        let url = "http://talks.example/a"
        let cache = try FileServer([url: .init([1, 2, 3])])
        let file = try await bench.fetch(url) {
            $0.connection.proxy = try Proxy(cache.url(""))
        }.get()
        #expect(
            file.notices == [
                "through a proxy it cannot be checked whether http://talks.example, or what it leads to, is in the own network"
            ])
    }

    @Test func throughAProxyNoMoveLeadsToANameOfTheOwnNetwork() async throws {
        let proxy = try await ProxyServer()
        let port = server.server.port
        let fetch = { (url: String) async throws in
            try await bench.fetch(url) { $0.connection.proxy = try Proxy(proxy.url) }
        }
        #expect(try await fetch(server.url("/b")) == .failure(.refused(status: 404)))
        for host in ["127.0.0.2", "router", "nas.local", "NAS.Local.", "[::1]"] {
            server.change { $0.moves["/b"] = (302, "http://\(host):\(port)/a") }
            #expect(try await fetch(server.url("/b")).isAvoided, "\(host)")
        }
    }

    @Test(
        arguments: [
            ([127, 0, 0, 1], true), ([8, 8, 8, 8], false), ([172, 31, 0, 1], true),
            ([172, 32, 0, 1], false), ([100, 64, 0, 1], true), ([224, 0, 0, 1], true), ([], true),
            ([0x20, 1, 0x48, 0x60] + [UInt8](repeating: 0, count: 12), false),
            ([0x20, 2, 127, 0, 0, 1] + [UInt8](repeating: 0, count: 10), true),
            ([0x20, 2, 8, 8, 8, 8] + [UInt8](repeating: 0, count: 10), false),
            ([0xFE, 0x80] + [UInt8](repeating: 0, count: 14), true),
            ([0xFD] + [UInt8](repeating: 1, count: 15), true),
            ([0x20, 1, 0, 0] + [UInt8](repeating: 0, count: 8) + [128, 255, 255, 254], true),
        ] as [([UInt8], Bool)])
    func addressesAreKnownByTheirBits(_ address: [UInt8], _ isOwn: Bool) {
        #expect(OwnNetwork.contains(address) == isOwn)
    }
}

/// Web servers of other hands, over links that break.
@Suite struct DownloadServerTests {
    private static let bytes = noise(1_000_000)

    @Test(arguments: StaticServer.Kind.allCases)
    func aFileIsRightOverAnyLinkAndAnewWhereItHasChanged(_ kind: StaticServer.Kind) async throws {
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
        func change(_ bytes: [UInt8]) throws {
            try root.write(bytes, to: "b.mp3")
            #expect(chmod(root.path("b.mp3"), 0o644) == 0)
        }
        try change(Self.bytes)
        // On the first connection nothing more comes, so that the cancel comes before the end.
        let silence = LinkPlan(LinkFault(.blackHole, .toClient, at: 300_000))
        let proxy = try FaultProxy(to: server.port, plans: [silence])
        let bench = try DownloadBench()
        let url = "http://127.0.0.1:\(proxy.port)/b.mp3"
        let task = try await bench.begin(url)
        task.cancel()
        #expect(await task.value == .failure(.left))
        let later = Array(Self.bytes.map { ~$0 }.dropLast())
        try change(later)
        try await bench.expect(later, of: url)
        #expect(try await bench.expect(later, of: url).isUnchanged)
    }

    @Test func aFileOfAnotherDigestIsRemovedAndBeginsAnew() async throws {
        let server = try FileServer(["/a": .init(Self.bytes)])
        let bench = try DownloadBench()
        var digest = SHA256()
        digest.update(Self.bytes.span)
        let right = digest.hexadecimal
        let url = server.url("/a")
        server.change { $0.files["/a"]?.bytes[7] ^= 1 }
        let reason = try #require(try await bench.fetch(url) { $0.sha256 = right }.unusable)
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
        let fetch = { () async throws in
            try await bench.fetch(url) { ($0.sha256, $0.destination) = (right, place) }.get()
        }
        #expect(try await fetch().path == place)
        #expect(try readFile(place) == Self.bytes)
        try bench.folder.write(Array(Self.bytes.reversed()), to: "b")
        let mended = try await fetch()
        #expect(!mended.isUnchanged)
        #expect(try readFile(mended.path) == Self.bytes)
    }
}
