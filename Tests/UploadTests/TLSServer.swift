// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `openssl s_server` with a certificate that only its own file vouches for.
final class TLSServer: Sendable {
    let port: Int
    /// The certificate, as a client may trust it.
    let certificateFile: String
    private let folder: TemporaryFolder
    private let run: CommandRun

    /// Starts the server with a certificate for `name`; it answers nothing until it is told to.
    init(certificateFor name: String = "IP:127.0.0.1", options: [String] = []) async throws {
        folder = try TemporaryFolder()
        certificateFile = folder.path("certificate.pem")
        let key = folder.path("key.pem")
        let made = try await CommandRun.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out",
                certificateFile, "-days", "2", "-subj", "/CN=utter test", "-addext",
                "subjectAltName=\(name)",
            ])
        try #require(made.status == .exited(0), "\(made.errorText)")
        run = try CommandRun(
            "openssl",
            ["s_server", "-accept", "127.0.0.1:0", "-cert", certificateFile, "-key", key] + options,
            input: .pipe)
        try #require(await run.wait(for: "ACCEPT 127.0.0.1:", in: .output))
        let said = String(decoding: run.output, as: UTF8.self)
        let words = try #require(said.split(separator: "ACCEPT 127.0.0.1:").last)
        port = try #require(Int(words.prefix { $0.isNumber }))
    }

    var url: String { "https://127.0.0.1:\(port)/" }

    /// Whether this text came through TLS; also what the server says of itself.
    func hasReceived(_ text: String, within limit: Duration = .seconds(30)) async -> Bool {
        await run.wait(for: text, in: .output, within: limit)
    }

    /// All that came, and what the server says of itself.
    var text: String { String(decoding: run.output + run.error, as: UTF8.self) }

    /// Sends bytes to the client.
    func send(_ text: String) { run.write(Array(text.utf8)) }

    /// Ends the connection as TLS wants it, with close_notify.
    func closeOrderly() { run.write([UInt8(ascii: "Q")]) }

    /// Ends the connection as an attacker would: FIN, without close_notify.
    func cut() { run.signal(SIGKILL) }
}
