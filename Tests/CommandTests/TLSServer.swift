// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// An HTTPS server with a certificate of its own: `openssl s_server`, for one request.
struct TLSServer {
    /// The path of the certificate, which vouches for itself.
    let certificate: String
    private let run: CommandRun

    /// Starts a server that keeps its key in the folder.
    init(in folder: TemporaryFolder) throws {
        let key = folder.path("key")
        certificate = folder.path("certificate")
        try ForeignTool("openssl").run([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
            "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
        ])
        run = try CommandRun(
            "openssl",
            ["s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate],
            input: .pipe)
    }

    /// Where it listens; waits until it does.
    var url: String {
        get async throws {
            try #require(await run.wait(for: "\n", in: .output))
            try #require(await run.wait(for: "ACCEPT 127.0.0.1:", in: .output))
            let line = String(decoding: run.output, as: UTF8.self)
                .split(separator: "\n").first { $0.hasPrefix("ACCEPT 127.0.0.1:") }
            return "https://127.0.0.1:\(try #require(line?.split(separator: ":").last))/"
        }
    }

    /// Answers once the body has ended; false when it did not end.
    func answer(_ text: String) async -> Bool {
        guard await run.wait(for: "\n0\r\n\r\n", in: .output) else { return false }
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n"
        run.write(Array((head + text).utf8))
        return true
    }
}
