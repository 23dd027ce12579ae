// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Many takes to one https service, as the service counts their handshakes.
@Suite struct HandshakeTests {
    private static let count = 8

    private func serve() async throws -> (RecordingServer, TLSFront, Bench) {
        let server = try RecordingServer.hearing("heard")
        return (server, try await TLSFront(to: server), try Bench())
    }

    private var files: [String] { Array(repeating: Clip.goForward.path, count: Self.count) }

    @Test(arguments: [["flush"], ["retry", "all"]])
    func keptTakesShareAConnection(_ command: [String]) async throws {
        let (server, front, bench) = try await serve()
        for _ in 0..<Self.count { _ = try await bench.keep() }
        let sent = try await bench.start(
            command + ["--to", front.url(), "-c", "connection.ca-file=\(front.certificateFile)"]
        ).result()
        #expect(sent.status == .exited(0), "\(sent.errorText)")
        #expect(server.requests.count == Self.count)
        #expect(server.connectionCount < Self.count / 2)
    }

    @Test func filesShareAConnection() async throws {
        let (server, front, bench) = try await serve()
        let sent = try await bench.start(
            ["send", "--to", front.url(), "-c", "connection.ca-file=\(front.certificateFile)"]
                + files
        ).result()
        #expect(sent.status == .exited(0), "\(sent.errorText)")
        #expect(server.requests.count == Self.count)
        #expect(server.connectionCount < Self.count / 2)
    }
}
