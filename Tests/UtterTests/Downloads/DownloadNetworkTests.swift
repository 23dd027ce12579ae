// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import LinuxPlatform
@testable import Upload
@testable import Utter

/// Where a server may lead a download, and where not.
@Suite struct DownloadNetworkTests {
    private let server: FileServer
    private let bench: DownloadBench

    init() throws {
        server = try FileServer(["/a": .init([1, 2, 3])])
        bench = try DownloadBench()
    }

    private func isAvoided(_ result: Result<FetchedFile, DownloadFailure>) -> Bool {
        if case .failure(.ownNetwork) = result { true } else { false }
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
        #expect(isAvoided(try await bench.fetch(server.url("/b"))))
        #expect(other.requests.isEmpty && other.server.connectionCount == 0)
    }

    @Test func aNameThatTurnsOutToBeHereIsNotConnectedTo() async throws {
        let port = server.server.port
        let url = "http://talks.example:\(port)/a"
        let resolution = try HostResolution("talks.example:\(port):127.0.0.1")
        let found = try await bench.fetch(url) { $0.connection.resolutions = [resolution] }
        #expect(
            found
                == .failure(.ownNetwork(host: "http://talks.example:\(port)", address: "127.0.0.1"))
        )
        #expect(server.server.connectionCount == 0)
        let allowed = try await bench.fetch(url) {
            $0.connection.resolutions = [resolution]
            $0.ownOrigins = [try Origin("http://talks.example:\(port)")]
        }
        #expect(try allowed.get().byteCount == 3)
    }

    @Test func aTokenGoesToTheTypedOriginAlone() async throws {
        let other = try FileServer(["/a": .init([1])])
        server.change {
            $0.moves["/b"] = (302, "/c")
            $0.moves["/c"] = (307, other.url("/a"))
        }
        let file = try await bench.fetch(server.url("/b")) {
            $0.credential = try Credential(secret: "sesame")
            $0.ownOrigins = [try Origin(other.url(""))]
        }.get()
        #expect(file.byteCount == 1)
        #expect(server.requests.map { $0["Authorization"] } == ["Bearer sesame", "Bearer sesame"])
        #expect(other.requests.map { $0["Authorization"] } == [nil])
        // A path that another origin has chosen is not opened.
        other.change { $0.moves["/back"] = (302, server.url("/a")) }
        server.change { $0.moves["/e"] = (302, other.url("/back")) }
        let back = try await bench.fetch(server.url("/e")) {
            $0.credential = try Credential(secret: "sesame")
            $0.ownOrigins = [try Origin(other.url(""))]
        }.get()
        #expect(back.byteCount == 3)
        #expect(server.requests.last?["Authorization"] == nil)
    }

    @Test func aTokenDoesNotTravelInTheClear() async throws {
        let found = try await bench.fetch("http://talks.example/a") {
            $0.credential = try Credential(secret: "sesame")
        }
        #expect(
            found
                == .failure(.token("it would travel in the clear to http://talks.example")))
    }

    @Test func throughAProxyTheCheckIsSaidToBeImpossible() async throws {
        let proxy = try await ProxyServer()
        let port = server.server.port
        let file = try await bench.fetch("http://localhost.localdomain:\(port)/a") {
            $0.connection.proxy = try Proxy(proxy.url)
        }
        // The proxy looks the name up, wherever that leads.
        if case .success(let file) = file { #expect(file.notices.count == 1) }
        let literal = try await bench.fetch(server.url("/b")) {
            $0.connection.proxy = try Proxy(proxy.url)
        }
        #expect(literal == .failure(.refused(status: 404)))
        for host in ["127.0.0.2", "router", "nas.local", "NAS.Local.", "[::1]"] {
            server.change { $0.moves["/b"] = (302, "http://\(host):\(port)/a") }
            let moved = try await bench.fetch(server.url("/b")) {
                $0.connection.proxy = try Proxy(proxy.url)
            }
            #expect(isAvoided(moved), "\(host)")
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
