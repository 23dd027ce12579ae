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
        (run, port) = try await runSocat(
            "\(listening),cert=\(certificate.path),key=\(certificate.keyPath)", to: server,
            saying: "AF=2")
    }

    package func url(_ path: String = "/") -> String { "https://127.0.0.1:\(port)\(path)" }
}

/// Runs `socat`, which leads from where it listens to a server, and finds the port that it has.
func runSocat(
    _ listening: String, to server: RecordingServer, saying family: String
) async throws -> (CommandRun, port: Int) {
    let run = try CommandRun("socat", ["-d", "-d", listening, "TCP:127.0.0.1:\(server.port)"])
    // The next line says that the one before is whole.
    try #require(await run.wait(for: "listening on \(family) ", in: .error))
    let said = String(decoding: run.error, as: UTF8.self)
    let line = try #require(said.split(separator: "\n").first { $0.contains("listening on") })
    return (run, try #require(line.split(separator: ":").last.flatMap { Int($0) }))
}

/// A port of `::1` that leads to a `RecordingServer`, by `socat`.
package final class IPv6Front: Sendable {
    package let port: Int
    private let run: CommandRun

    package init(to server: RecordingServer) async throws {
        (run, port) = try await runSocat(
            "TCP6-LISTEN:0,bind=[::1],fork,ipv6only=1", to: server,
            saying: "AF=10")
    }

    package func url(_ path: String = "/") -> String { "http://[::1]:\(port)\(path)" }
}
