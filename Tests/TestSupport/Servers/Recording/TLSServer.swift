// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

/// `openssl s_server` with a certificate that only its own file vouches for.
package final class TLSServer: Sendable {
    package let port: Int
    package let certificateFile: String
    private let folder: TemporaryFolder
    private let run: CommandRun

    /// Starts the server with a certificate for `name`; it answers nothing until it is told to.
    package init(
        certificateFor name: String = "IP:127.0.0.1", options: [String] = [],
        isExpired: Bool = false
    ) async throws {
        folder = try TemporaryFolder()
        certificateFile = folder.path("certificate.pem")
        let key = folder.path("key.pem")
        let made = try await CommandRun.run(
            "sh", ["-c", isExpired ? Self.expired : Self.valid, folder.path, name])
        try #require(made.status == .exited(0), "\(made.errorText)")
        run = try CommandRun(
            "openssl",
            ["s_server", "-accept", "127.0.0.1:0", "-cert", certificateFile, "-key", key] + options,
            input: .pipe)
        try #require(await run.wait(in: .output) { Self.port(in: $0) != nil })
        port = try #require(Self.port(in: run.output))
    }

    /// Makes key and certificate in the folder `$0` for the name `$1`.
    private static let valid = """
        openssl req -x509 -newkey rsa:2048 -nodes -keyout "$0/key.pem" -days 2 \\
          -out "$0/certificate.pem" -subj '/CN=utter test' -addext "subjectAltName=$1"
        """

    /// The same, for a time that is over.
    private static let expired = """
        cd "$0" && touch index && echo 01 >serial &&
        printf '%s\\n' '[ca]' default_ca=d '[d]' database=index serial=serial new_certs_dir=. \\
          default_md=sha256 policy=p x509_extensions=e '[p]' commonName=supplied '[e]' \\
          "subjectAltName=$1" >configuration &&
        openssl req -newkey rsa:2048 -nodes -keyout key.pem -out request.pem -subj '/CN=utter test' &&
        openssl ca -batch -notext -selfsign -config configuration -keyfile key.pem -in request.pem \\
          -out certificate.pem -startdate 20200101000000Z -enddate 20200102000000Z
        """

    /// The port in what the server says first, once all of that line has come.
    private static func port(in output: [UInt8]) -> Int? {
        String(decoding: output, as: UTF8.self).firstMatch(of: /ACCEPT 127\.0\.0\.1:(\d+)\n/)
            .flatMap { Int($0.1) }
    }

    package var url: String { "https://127.0.0.1:\(port)/" }

    /// Whether this text came through TLS; also what the server says of itself.
    package func hasReceived(_ text: String, within limit: Duration = .patience) async -> Bool {
        await run.wait(for: text, in: .output, within: limit)
    }

    /// All that came, and what the server says of itself.
    package var text: String { String(decoding: run.output + run.error, as: UTF8.self) }

    package func send(_ text: String) { run.write(Array(text.utf8)) }

    /// Ends the connection as TLS wants it, with close_notify.
    package func closeOrderly() { run.write([UInt8(ascii: "Q")]) }

    /// Ends the connection as an attacker would: FIN, without close_notify.
    package func cut() { run.signal(SIGKILL) }

    /// Answers one request once its chunked body has ended; false when it did not end.
    package func answer(_ text: String) async -> Bool {
        guard await run.wait(for: "\n0\r\n\r\n", in: .output) else { return false }
        send("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
        return true
    }
}
