// SPDX-License-Identifier: Apache-2.0

internal import Testing

/// `nginx` in front of another server: TLS with HTTP/2, and its usual limits.
package final class WebServer: Sendable {
    package let port: UInt16
    package let certificateFile: String
    private let folder: TemporaryFolder
    private let run: CommandRun
    private let reservation: ReservedPort

    /// Starts the server, which takes requests and answers whole before it hands them on, or does not.
    package init(to service: UInt16, buffers: Bool, maximumBodySize: String = "1m") async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        let certificate = try await TestCertificate(in: folder)
        certificateFile = certificate.path
        reservation = try ReservedPort()
        port = reservation.port
        let buffering =
            buffers
            ? "" : "proxy_request_buffering off; proxy_buffering off; proxy_http_version 1.1;"
        let text = Self.configuration(
            in: folder,
            """
            listen 127.0.0.1:\(port) ssl http2;
            ssl_certificate \(certificate.path); ssl_certificate_key \(certificate.keyPath);
            client_max_body_size \(maximumBodySize);
            location / { proxy_pass http://127.0.0.1:\(service); \(buffering) }
            """)
        let path = try folder.write(Array(text.utf8), to: "nginx.conf")
        run = try CommandRun("nginx", ["-c", path, "-e", folder.path("errors")])
        try #require(await reservation.waitUntilOpen())
    }

    /// What `nginx` reads whose only server is this one, and which writes into a folder alone.
    static func configuration(in folder: TemporaryFolder, _ server: String) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { name in
            "\(name)_temp_path \(folder.path(name));"
        }
        return """
            daemon off; master_process off; pid \(folder.path("pid"));
            error_log \(folder.path("errors"));
            events { worker_connections 64; }
            http { access_log off; \(temporary.joined(separator: " ")) server { \(server) } }
            """
    }

    package func url(_ path: String = "/") -> String { "https://127.0.0.1:\(port)\(path)" }
}
