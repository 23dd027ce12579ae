// SPDX-License-Identifier: Apache-2.0

internal import Testing

/// TLS in front of a `RecordingServer`, by `socat`: each handshake is one of its connections.
package final class TLSFront: Sendable {
    package let port: Int
    package let certificateFile: String
    private let folder: TemporaryFolder
    private let run: CommandRun

    /// Starts to listen with a certificate for `name`; what comes goes to `server`.
    package init(to server: RecordingServer, for name: String = "IP:127.0.0.1") async throws {
        folder = try TemporaryFolder()
        let certificate = try await TestCertificate(for: name, in: folder)
        certificateFile = certificate.path
        let listening = "OPENSSL-LISTEN:0,bind=127.0.0.1,fork,verify=0"
        run = try CommandRun(
            "socat",
            [
                "-d", "-d", "\(listening),cert=\(certificate.path),key=\(certificate.keyPath)",
                "TCP:127.0.0.1:\(server.port)",
            ])
        try #require(await run.wait(for: "listening on AF=2 127.0.0.1:", in: .error))
        let said = String(decoding: run.error, as: UTF8.self)
        let words = try #require(said.split(separator: "listening on AF=2 127.0.0.1:").last)
        port = try #require(Int(words.prefix { $0.isNumber }))
    }

    package func url(_ path: String = "/") -> String { "https://127.0.0.1:\(port)\(path)" }
}
