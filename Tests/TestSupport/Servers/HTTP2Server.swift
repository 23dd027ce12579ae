// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Testing

/// `nghttpd`, a server that speaks HTTP/2 over TLS and nothing else.
package final class HTTP2Server: Sendable {
    package let port: UInt16
    package let certificateFile: String
    private let folder: TemporaryFolder
    private let run: CommandRun
    /// Keeps the port from other programs.
    private let reservation: ReservedPort

    /// Starts to answer requests for `/answer` with a text, each when its body has ended.
    package init(answer: String) async throws {
        folder = try TemporaryFolder()
        try folder.write(Array(answer.utf8), to: "answer")
        let certificate = try await TestCertificate(in: folder)
        certificateFile = certificate.path
        reservation = try ReservedPort()
        port = reservation.port
        run = try CommandRun(
            "nghttpd",
            [
                "-v", "-a", "127.0.0.1", "-d", folder.path, "\(port)", certificate.keyPath,
                certificate.path,
            ])
        try #require(await run.wait(for: "listen 127.0.0.1:", in: .output))
    }

    package var url: String { "https://127.0.0.1:\(port)/answer" }

    package var log: String { String(decoding: run.output, as: UTF8.self) }

    package var handshakeCount: Int {
        run.error.ranges(of: Array("SSL/TLS handshake completed".utf8)).count
    }

    package func wait(for text: String) async -> Bool { await run.wait(for: text, in: .output) }

    package func stop() { run.signal(SIGKILL) }
}
