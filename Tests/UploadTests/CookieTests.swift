// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Upload

/// Cookies live as long as a take, and go no further.
@Suite struct CookieTests {
    private func server() throws -> RecordingServer {
        try RecordingServer(
            otherwise: .answer(
                headers: [HeaderField("Set-Cookie", "node=b7; Path=/")], text: "heard"))
    }

    @Test func theNextRequestOfATakeBringsThemAndThatOfAnotherDoesNot() async throws {
        let server = try server()
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        let (one, other) = (TransferSession(), TransferSession())
        for session in [one, one, other, nil] {
            let upload = try Upload(to: server.url(), bytes(640), isSealed: true, on: loop) {
                $0.session = session
            }
            #expect(try #require(await upload.result()).ending == .answered)
        }
        #expect(server.requests.map { $0["Cookie"] } == [nil, "node=b7", nil, nil])
    }

    @Test(.spec("RFC 6454 §4")) func anotherPortOfTheHostDoesNotGetThem() async throws {
        let (server, another) = (try server(), try server())
        let session = TransferSession()
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        for server in [server, another, server] {
            let upload = try Upload(to: server.url(), bytes(640), isSealed: true, on: loop) {
                $0.session = session
            }
            #expect(try #require(await upload.result()).ending == .answered)
        }
        #expect(another.requests.map { $0["Cookie"] } == [nil])
        #expect(server.requests.map { $0["Cookie"] } == [nil, "node=b7"])
    }

    @Test func anotherHostDoesNotGetThem() async throws {
        let (server, another) = (try server(), try server())
        let session = TransferSession()
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        for url in [server.url(), another.url().replacing("127.0.0.1", with: "localhost")] {
            let upload = try Upload(to: url, bytes(640), isSealed: true, on: loop) {
                $0.session = session
            }
            #expect(try #require(await upload.result()).ending == .answered)
        }
        #expect(another.requests.map { $0["Cookie"] } == [nil])
    }
}
